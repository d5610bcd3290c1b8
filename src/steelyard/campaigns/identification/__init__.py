"""Identification campaigns: every motion at every sampling interval, through all stages, to one model.

`plan` makes the tasks, `robot_case` says what all of them are about, and the stages follow: `record`, `fit`,
`gather`. `reference` reads figures of somebody else, which no task sees and the page sets beside.
"""
