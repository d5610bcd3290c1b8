"""The product: one function a command, from objects or paths to a result object.

`steelyard.identify` is `workflows.identify.identify`, and so on; the command line is a skin over the same
functions. Each takes what its signature says, declared once with the words of `--help` (`options.Option`),
prints nothing, tells `progress` what it does, and returns a result whose `document` is the JSON answer.
"""
