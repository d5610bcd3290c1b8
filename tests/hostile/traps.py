"""Traps for any XML file: entity bombs, paths that lead away, odd encodings, endless work."""

from __future__ import annotations

LAUGHS = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 12))
DOCTYPES = {
    "billion laughs": f'<!DOCTYPE robot [<!ENTITY l0 "ha">{LAUGHS}]>',
    "quadratic blow-up": f'<!DOCTYPE robot [<!ENTITY a "{"a" * 100_000}">]>',
    "external entity": '<!DOCTYPE robot [<!ENTITY x SYSTEM "../secret.txt">]>',
    "absolute external entity": '<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    "remote entity": '<!DOCTYPE robot [<!ENTITY x SYSTEM "http://127.0.0.1:9/x">]>',
    "parameter entity": '<!DOCTYPE robot [<!ENTITY % p SYSTEM "http://127.0.0.1:9/p.dtd"> %p;]>',
    "external subset": '<!DOCTYPE robot SYSTEM "../secret.dtd">',
    "public subset": '<!DOCTYPE robot PUBLIC "-//X//Y" "http://127.0.0.1:9/x.dtd">',
    "unfinished doctype": "<!DOCTYPE robot [",
}
ENTITY = {"billion laughs": "l11", "quadratic blow-up": "a"}
PATHS = (
    "../secret.obj", "/etc/passwd", "file:///etc/passwd", "file://../secret.obj", "..\\secret.obj",
    "a/../../secret.obj", "//host/share/a.stl", "http://127.0.0.1:9/a.stl", "package://../../secret.obj",
    "package://x/../../secret.obj", "link.obj", "loop.obj", "pipe.obj", "folder.obj", "/dev/zero",
    "/proc/self/environ", "~/secret.obj", "$HOME/a.obj", "a&#0;b", "x" * 5000, "%2e%2e/secret.obj",
    "C:\\secret.obj", "arm.obj&#10;x", "\u202egpj.obj", "robot.urdf",
)  # fmt: skip
MANY = " ".join(f'a{k}=""' for k in range(10_000))


def encodings(text: str) -> dict[str, bytes]:
    """A text in encodings that are odd, broken, or not what they say."""
    return {
        "empty": b"",
        "blank": b" \n\t\n",
        "utf-8 with mark": b"\xef\xbb\xbf" + text.encode() + b"\x00",
        "utf-16": text.replace("utf-8", "utf-16").encode("utf-16")[:-1],
        "utf-32": text.encode("utf-32"),
        "latin-1 without saying so": text.replace("name", "näme").encode("latin-1"),
        "nul byte": text.encode().replace(b" ", b"\0", 1),
        "only nul bytes": bytes(4096),
        "binary": bytes(range(256)) * 16,
        "overlong utf-8": text.encode().replace(b"a", b"\xc1\xa1"),
        "lone surrogate": text.encode().replace(b"a", b"\xed\xa0\x80", 3),
        "gzip": b"\x1f\x8b\x08\x00" + text.encode(),
    }


def xml_traps(text: str, root: str) -> dict[str, bytes]:
    """Traps for any XML: `text` is a good file whose root element is `root`."""
    head, _, body = text.partition(f"<{root}")
    opening, _, rest = body.partition(">")
    start = f"<{root}{opening}>"
    traps = {}
    for name, doctype in DOCTYPES.items():
        use = f"<!-- -->&{ENTITY.get(name, 'x')};"
        traps[name] = doctype.replace("robot", root, 1) + start + use + rest
    traps |= {
        "deep nesting": start + "<a>" * 20_000 + "</a>" * 20_000 + rest,
        "deep nesting, never closed": start + "<link>" * 50_000,
        "huge attribute": f'<{root} note="{"x" * 2_000_000}"{opening}>{rest}',
        "many attributes": f"<{root} {MANY}{opening}>{rest}",
        "many elements": start + "<link/>" * 20_000 + rest,
        "two roots": text + text,
        "text after the end": text + "more",
        "cdata never closed": start + "<![CDATA[" + rest,
        "comment never closed": start + "<!-- " + rest.replace("--", ""),
        "instruction never closed": start + "<?php " + rest.replace("?>", ""),
        "undefined entity": start + "&nothing;" + rest,
        "undefined prefix": start + "<z:link/>" + rest,
        "character that is none": start + "&#0;&#xFFFFFF;" + rest,
        "unknown encoding": '<?xml version="1.0" encoding="klingon"?>' + start + rest,
        "contradicting encoding": '<?xml version="1.0" encoding="utf-16"?>' + start + rest,
        "version two": '<?xml version="2.0"?>' + start + rest,
        "other root": head + start.replace(root, "sdf", 1) + "</sdf>",
        "root alone": f"<{root}/>",
        "empty root": f'<{root} name="" model=""></{root}>',
        "html": "<!doctype html><html><body>404</body></html>",
        "json": '{"robot": []}',
        "yaml bomb": "a: &a [x,x]\nb: &b [*a,*a]\n",
    }
    return {name: trap.encode(errors="surrogatepass") for name, trap in traps.items()} | encodings(text)


def replaced(text: str, old: str, news: dict[str, str]) -> dict[str, bytes]:
    """A text with its first `old` replaced, by the name of each replacement."""
    assert old in text, old
    return {name: text.replace(old, new, 1).encode() for name, new in news.items()}
