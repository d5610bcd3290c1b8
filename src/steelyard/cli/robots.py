"""`steelyard robots`: lists the zoo."""

from __future__ import annotations

from rich.table import Table

from steelyard.cli.output import JsonOption, print_json, stdout
from steelyard.zoo import ZOO


def robots(json: JsonOption = False) -> None:
    """List the robots that ship with the package, and where their numbers come from."""
    built = {name: entry.build() for name, entry in ZOO.items()}
    if json:
        print_json(
            {
                "robots": [
                    {
                        "name": name,
                        "summary": entry.summary,
                        "joints": list(built[name].joint_names),
                        "mass": built[name].mass,
                        "sources": dict(entry.sources),
                    }
                    for name, entry in ZOO.items()
                ]
            }
        )
        return
    table = Table(title="Robots of the zoo", title_justify="left")
    for heading in ("name", "what it is", "joints", "mass"):
        table.add_column(heading, justify="right" if heading in ("joints", "mass") else "left")
    for name, entry in ZOO.items():
        table.add_row(name, entry.summary, str(built[name].nv), f"{built[name].mass:.3g} kg")
    stdout.print(table)
    for name, entry in ZOO.items():
        stdout.print(f"\n[bold]{name}[/bold]: where its numbers come from")
        for what, source in entry.sources.items():
            stdout.print(f"  {what}: {source}", highlight=False, soft_wrap=True)
