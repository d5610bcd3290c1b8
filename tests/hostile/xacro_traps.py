"""xacro that no fuzzer finds by chance: expressions that escape or never end, macros that multiply."""

from __future__ import annotations

from hostile.seeds import XACRO
from hostile.traps import PATHS, replaced, xml_traps


def xacro_traps() -> dict[str, bytes]:
    """Content by name."""
    traps = xml_traps(XACRO, "robot")
    traps |= replaced(
        XACRO, 'filename="part.xacro"', {f"include {p[:30]!r}": f'filename="{p}"' for p in PATHS}
    )
    expressions = {
        "import": "__import__('os').system('touch pwned')",
        "class ladder": "().__class__.__bases__[0].__subclasses__()",
        "open": "open('../secret.txt').read()",
        "power tower": "9**9**9**9",
        "long text": "'a' * 10**10",
        "long list": "[0] * 10**10",
        "endless loop": "[x for x in iter(int, 1)]",
        "yaml outside": "xacro.load_yaml('../secret.yaml')",
        "yaml absolute": "load_yaml('/etc/passwd')",
        "division": "1 / 0",
        "deep brackets": "(" * 5000 + "1" + ")" * 5000,
        "long sum": "+".join(["1"] * 20_000),
        "format": "'{0.__class__}'.format(1)",
        "lambda": "(lambda f: f(f))(lambda f: f(f))",
        "own value": "length",
        "not finished": "1 +",
        "brace": "}",
        "nested dollar": "${${1}}",
        "overflow": "1e308 * 10",
        "root of less than zero": "sqrt(-1)",
        "shift": "1 << 10**9",
    }
    traps |= replaced(
        XACRO,
        'name="length" value="0.3"',
        {n: f'name="length" value="${{{e}}}"' for n, e in expressions.items()},
    )
    call = '<xacro:m depth="${depth + 1}"/>'
    recursion = '<xacro:macro name="m" params="depth">{}</xacro:macro><xacro:m depth="0"/>'
    value = '<xacro:property name="{}" value="${{{}}}"/>'
    use = '<link name="${a}"/>'
    substitutions = (
        "find nowhere",
        "find ..",
        "env HOME",
        "optenv X y",
        "eval 1+1",
        "arg nothing",
        "dirname",
        "anon a",
    )
    traps |= replaced(
        XACRO, '<link name="base"/>', {f"$({word})": f'<link name="$({word})"/>' for word in substitutions}
    )
    traps |= replaced(
        XACRO,
        '<link name="base"/>',
        {
            "macro that calls itself": recursion.format(call),
            "macro that doubles": recursion.format(call * 2),
            "macros that laugh": "".join(
                f'<xacro:macro name="m{k}">{f"<xacro:m{k - 1}/>" * 10}</xacro:macro>' for k in range(1, 12)
            )
            + '<xacro:macro name="m0"><link name="ha"/></xacro:macro><xacro:m11/>',
            "unknown macro": "<xacro:nothing/>",
            "property in a circle": f"{value.format('a', 'b')}{value.format('b', 'a')}{use}",
            "property that grows": value.format("a", "a}${a") + use,
            "missing parameter": '<xacro:segment name="x"/>',
            "condition that is none": '<xacro:if value="maybe"/>',
            "call of a property": '<xacro:call macro="length"/>',
        },
    )
    return traps
