"""The product: one function a command, from objects or paths to a result object.

`steelyard.identify` is `workflows.identify.identify`, and so on; the command line is a skin over the same
functions. Each takes what its signature says, declared once with the words of `--help` (`options.Option`),
prints nothing, tells `progress` what it does, and returns a result whose `document` is the JSON answer.

A workflow's own file holds its signature, its words and nothing heavy; what it runs is in a file of its own,
named by its noun, and imported where it is called. `steelyard identify --help`, or the answer to a wrong
option, takes half a second so, instead of two.
"""
