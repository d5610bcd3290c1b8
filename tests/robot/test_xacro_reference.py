"""Expansion agrees, element by element, with the reference implementation of xacro (ROS's own package)."""

from __future__ import annotations

import xml.dom.minidom
from pathlib import Path

import pytest
import xacro

from steelyard.errors import DescriptionError
from steelyard.robot.descriptions.xacro.expansion import expand_xacro
from steelyard.robot.descriptions.xml import Element

Tree = tuple[str, dict[str, str], list["Tree"]]

HEAD = '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">\n'

BODIES = {
    "properties and arithmetic": """
        <xacro:property name="width" value="0.2"/>
        <xacro:property name="half" value="${width/2}"/>
        <xacro:property name="bodylen" value="${width*3 - 1e-3}"/>
        <box size="${width} ${half} ${bodylen}" n="${2*int(3.7)}" text="a${width}b"
            int="${7//2} ${7%4} ${2**5}"/>
        <a mixed="${-width + +half}" not="${not True}" chain="${0 &lt; width &lt; 1}"
            both="${True and 0 or 'x'}"/>""",
    "numbers keep their type": """
        <xacro:property name="i" value="3"/> <xacro:property name="f" value="3.0"/>
        <xacro:property name="e" value="1e-3"/> <xacro:property name="s" value="'3'"/>
        <xacro:property name="u" value="1_0"/> <xacro:property name="b" value="true"/>
        <xacro:property name="inf_" value="inf"/> <xacro:property name="spaced" value=" 4 "/>
        <a i="${i/2}" f="${f}" e="${e}" s="${s + s}" u="${u}" b="${b}" c="${b and 1}" d="${spaced + 1}"
           inf="${inf_}" text="${i}${f}" truth="${False}" none="${None}" list="${[1, 2.0, 'x']}"
            t="${(1, 2)}"/>""",
    "functions of mathematics": """
        <a v="${pi} ${math.pi/2} ${sin(pi/6)} ${cos(0)} ${atan2(1, 2)} ${sqrt(2)} "/>
        <a v="${radians(90)} ${degrees(pi)}"/>
        <a v="${floor(2.7)} ${ceil(2.1)} ${fabs(-3)} ${hypot(3, 4)} ${exp(1)} ${log(10)} ${pow(2, 3)} ${e}"/>
        <a v="${max(1, 2, 3)} ${min([4, 5])} ${round(3.14159, 2)} ${len('abc')}"/>
        <a v="${float('2.5')} ${str(5) + 'x'}"/>
        <a v="${python.abs(-2)} ${python.sum([1, 2])} ${list(range(4))} ${sorted([3, 1, 2])} ${bool(0)}"/>
        <a v="${list(map(float, '1 2 3'.split()))} ${xacro.tokenize('a, b;c')}"/>
        <a v="${[x*2 for x in range(3)]}"/>""",
    "conditions inside expressions": """
        <xacro:property name="side" value="left"/>
        <a y="${1 if side == 'left' else -1}" in="${side in ['left', 'right']}" not="${side not in 'left'}"
           is="${side is None}" or="${side == 'a' or side != 'b'}"
            slice="${side[1:3]} ${side[-1]} ${side[::-1]}"/>""",
    "text methods": """
        <xacro:property name="side" value="Left"/>
        <a v="${side.lower()} ${side.upper()} ${side.replace('L', 'l')}"/>
        <a v="${'-'.join(['a', 'b'])} ${side.startswith('L')}"/>
        <a v="${'a b c'.split()[1]} ${' x '.strip()} ${side.endswith('t')}"/>""",
    "escaped dollars": """
        <a v="$${notanexpression}" w="$$(arg nothing)" x="$$${y}" y="1$" z="$x $ 5"/>""",
    "lazy evaluation": """
        <xacro:property name="a" value="${b*2}"/>
        <xacro:property name="b" value="3"/>
        <x a="${a}"/>
        <xacro:property name="b" value="4"/>
        <x a="${a}" b="${b}"/>
        <xacro:property name="a" value="${b*2}" lazy_eval="false"/>
        <xacro:property name="b" value="5"/>
        <x a="${a}" b="${b}"/>""",
    "redefinition by itself, eagerly": """
        <xacro:property name="n" value="1"/>
        <xacro:property name="n" value="${n + 1}" lazy_eval="false"/>
        <xacro:property name="n" value="${n + 1}" lazy_eval="false"/>
        <x n="${n}"/>""",
    "defaults and removal": """
        <xacro:property name="a" default="1"/> <xacro:property name="a" default="2"/>
        <x a="${a}"/>
        <xacro:property name="a" remove="true"/> <xacro:property name="a" default="3"/>
        <x a="${a}"/>""",
    "names from expressions": """
        <xacro:property name="which" value="mass"/>
        <xacro:property name="${which}_of_arm" value="2"/>
        <x m="${mass_of_arm}"/>""",
    "macros with parameters": """
        <xacro:macro name="link" params="name mass:=1 size:='0.1 0.2 0.3' prefix=arm_ scale:=${2*2}">
          <link name="${prefix}${name}"><mass value="${mass*scale}"/><box size="${size}"/></link>
        </xacro:macro>
        <xacro:link name="a"/> <xacro:link name="b" mass="2.5" size="1 1 1"/>
        <xacro:link name="c" prefix="" scale="${1/2}"/>""",
    "defaults with spaces and quotes": """
        <xacro:macro name="m"
            params="a:='x y'  b:=${1 + 2}   c:=&quot;q r&quot; d:='' e := 5 f:=${'a'}_${'b'}">
          <x a="${a}" b="${b}" c="${c}" d="[${d}]" e="${e}" f="${f}"/>
        </xacro:macro>
        <xacro:m/> <xacro:m a="${[1, 2]}" d="z"/>""",
    "inherited parameters": """
        <xacro:property name="side" value="left"/>
        <xacro:macro name="m" params="side:=^ other:=^|7 third:=^|${side}"><x v="${side} ${other} ${third}"/>
            </xacro:macro>
        <xacro:m/> <xacro:m side="right" other="8"/>
        <xacro:property name="other" value="9"/> <xacro:m/>""",
    "parameters shadow properties": """
        <xacro:property name="x" value="1"/>
        <xacro:macro name="m" params="x"><a x="${x}"/><xacro:property name="y" value="${x + 1}"/>
            <a y="${y}"/></xacro:macro>
        <xacro:m x="${x + 10}"/> <a x="${x}"/>""",
    "a macro sees what its caller sees": """
        <xacro:macro name="inner" params=""><a v="${depth}"/></xacro:macro>
        <xacro:macro name="outer" params="depth"><xacro:inner/></xacro:macro>
        <xacro:outer depth="5"/>""",
    "scopes": """
        <xacro:macro name="m" params="">
          <xacro:property name="g" value="${1 + 1}" scope="global"/>
          <xacro:property name="p" value="parent" scope="parent"/>
          <xacro:property name="l" value="local"/>
        </xacro:macro>
        <xacro:macro name="n" params=""><xacro:m/><in g="${g}" p="${p}"/></xacro:macro>
        <xacro:property name="l" value="outside"/>
        <xacro:n/> <out g="${g}" l="${l}"/>""",
    "blocks": """
        <xacro:macro name="m" params="name *origin **content *last">
          <link name="${name}"><xacro:insert_block name="origin"/><xacro:insert_block name="content"/>
            <deep><xacro:insert_block name="last"/><xacro:insert_block name="origin"/></deep></link>
        </xacro:macro>
        <xacro:property name="z" value="3"/>
        <xacro:m name="a"><origin xyz="0 0 ${z}"/><group><one/><two v="${z}"/></group><last/></xacro:m>""",
    "blocks are expanded where they are given": """
        <xacro:property name="v" value="caller"/>
        <xacro:macro name="m" params="v *b"><x v="${v}"><xacro:insert_block name="b"/></x></xacro:macro>
        <xacro:m v="callee"><b v="${v}" later="$${v}"/></xacro:m>""",
    "block properties": """
        <xacro:property name="shape"><geometry><box size="${s} 1 1"/></geometry><extra/></xacro:property>
        <xacro:property name="s" value="2"/>
        <link><xacro:insert_block name="shape"/></link>
        <xacro:property name="s" value="3"/>
        <link><xacro:insert_block name="shape"/></link>""",
    "conditions": """
        <xacro:property name="on" value="true"/> <xacro:property name="n" value="0"/>
        <xacro:if value="${on}"><a/><xacro:unless value="${n}"><b/></xacro:unless></xacro:if>
        <xacro:if value="${n}"><c/></xacro:if> <xacro:if value="0"><d/></xacro:if> <xacro:if value="1"><e/>
            </xacro:if>
        <xacro:unless value="${on and n == 0}"><f/></xacro:unless> <xacro:if value="False"><g/></xacro:if>
        <xacro:if value="${[]}"><h/></xacro:if> <xacro:if value="${undefined_is_not_evaluated if n else 1}">
            <i/></xacro:if>
        <xacro:if value="false"><xacro:unknown_macro x="${nothing}"/></xacro:if>""",
    "recursion": """
        <xacro:macro name="chain" params="n">
          <link name="l${n}"/><xacro:if value="${n > 0}"><xacro:chain n="${n - 1}"/></xacro:if>
        </xacro:macro>
        <xacro:chain n="20"/>""",
    "macros inside macros, and redefined": """
        <xacro:macro name="outer" params="v"><xacro:macro name="inner" params="w"><x s="${v + w}"/>
            </xacro:macro>
          <xacro:inner w="1"/><xacro:inner w="2"/></xacro:macro>
        <xacro:outer v="10"/>
        <xacro:macro name="m" params=""><first/></xacro:macro> <xacro:m/>
        <xacro:macro name="m" params="a"><second a="${a}"/></xacro:macro> <xacro:m a="1"/>""",
    "macros called by a computed name": """
        <xacro:macro name="left_hand" params="n"><l n="${n}"/></xacro:macro>
        <xacro:macro name="right_hand" params="n"><r n="${n}"/></xacro:macro>
        <xacro:property name="side" value="right"/>
        <xacro:call macro="${side}_hand" n="5"/> <xacro:call macro="left_hand" n="6"/>""",
    "computed elements and attributes": """
        <xacro:property name="kind" value="box"/>
        <xacro:element xacro:name="${kind}" size="${1 + 1}"><xacro:attribute name="${kind}_a"
            value="${2 * 3}"/><in/></xacro:element>
        <plain><xacro:attribute name="late" value="x"/></plain>""",
    "arguments": """
        <xacro:arg name="given" default="unused"/> <xacro:arg name="free" default="${1 + 1}"/>
        <xacro:arg name="flag" default="false"/>
        <xacro:property name="p" value="$(arg given)"/>
        <a given="$(arg given)" free="$(arg free)" p="${p}" n="${$(arg free) * 2}" x="${xacro.arg('free')}"/>
        <xacro:if value="$(arg flag)"><flagged/></xacro:if>
        <xacro:unless value="$(arg flag)"><unflagged/></xacro:unless>
        <e v="$(eval free * 3)" w="$(eval given == 'hello')" o="$(optenv STEELYARD_NOT_SET some words)"/>""",
    "lists and dictionaries": """
        <xacro:property name="sizes" value="${[0.1, 0.2, 0.3]}"/>
        <xacro:property name="table" value="${dict(a=1, b=dict(c=[2, 3]))}"/>
        <xacro:property name="dotted" value="${xacro.dotify(table)}"/>
        <a v="${sizes[1]} ${len(sizes)} ${sizes[0:2]} ${table['a']}"/>
        <a v="${table['b']['c'][1]} ${dotted.b.c[0]}"/>""",
    "comments and texts are passed over": """
        <!-- ${undefined} <xacro:nothing/> --> <a>text ${1 + 1}</a> <!-- xacro:eval-comments:off -->""",
}  # fmt: skip


def reference(path: Path, arguments: dict[str, str] | None = None) -> Tree:
    document = xacro.process_file(str(path), mappings=dict(arguments or {}), verbosity=0)

    def tree(node: xml.dom.minidom.Element) -> Tree:
        children = [child for child in node.childNodes if child.nodeType == child.ELEMENT_NODE]
        return node.tagName, _told(dict(node.attributes.items())), [tree(child) for child in children]

    return tree(document.documentElement)


def ours(path: Path, arguments: dict[str, str] | None = None) -> Tree:
    def tree(element: Element) -> Tree:
        return element.tag, _told(element.attributes), [tree(child) for child in element.children]

    return tree(expand_xacro(path, arguments=arguments))


def _told(attributes: dict[str, str]) -> dict[str, str]:
    # The reference leaves some attributes as numbers until they are written.
    return {name: str(value) for name, value in attributes.items() if not name.startswith("xmlns:")}


@pytest.mark.parametrize("case", BODIES)
def test_a_file_expands_to_what_the_reference_makes_of_it(tmp_path: Path, case: str) -> None:
    path = tmp_path / "robot.urdf.xacro"
    path.write_text(HEAD + BODIES[case] + "\n</robot>\n")
    arguments = {"given": "hello"}
    expected = reference(path, arguments)
    assert ours(path, arguments) == expected
    assert expected[2], "the case shows nothing"


INCLUDED = {
    "package.xml": "<package><name>my_robot</name></package>",
    "common/inertia.xacro": HEAD + """
        <xacro:include filename="density.xacro"/>
        <xacro:macro name="solid" params="size"><mass value="${size**3 * density}"/></xacro:macro></robot>""",
    "common/density.xacro": HEAD + '<xacro:property name="density" value="2700"/><stated/></robot>',
    "common/named.xacro": HEAD + """<xacro:property name="p" value="${q + 1}"/><xacro:property name="q"
            value="1"/>
        <xacro:macro name="m" params="v"><x v="${v + p}"/><xacro:property name="up" value="7"
            scope="parent"/></xacro:macro>
        <ns_element p="${p}"/></robot>""",
    "parts/b.xacro": HEAD + "<b/></robot>",
    "parts/a.xacro": HEAD + "<a/></robot>",
    "config/limits.yaml": """
        joints: &all {one: {lower: !degrees -90, upper: !degrees 180/2}, two: {lower: -1.5, upper: 1e-1}}
        names: [one, two]
        again: *all
        merged: {<<: *all, three: true}
        mass: 3
        text: "7"
        nothing: ~
        length: !millimeters 250""",
    "urdf/robot.xacro": HEAD
    + """
        <xacro:include filename="../common/inertia.xacro"/>
        <xacro:include filename="$(find my_robot)/common/named.xacro" ns="n"/>
        <xacro:include filename="$(find my_robot)/parts/*.xacro"/>
        <xacro:include filename="not_there.xacro" optional="true"/>
        <xacro:solid size="2"/>
        <xacro:n.m v="10"/> <v up="${up}" q="${n.p} ${n.q}"/>
        <xacro:property name="folder" value="../config"/>
        <xacro:property name="limits" value="${xacro.load_yaml(folder + '/limits.yaml')}"/>
        <xacro:macro name="joint" params="name"><limit lower="${limits['joints'][name]['lower']}"
            upper="${limits.joints[name].upper}"/></xacro:macro>
        <xacro:joint name="one"/> <xacro:joint name="two"/>
        <v all="${limits.again} ${limits.merged} ${limits.mass + 1} ${limits.text + '1'} ${limits.nothing}"
           names="${[n for n in limits.names]} ${limits['length']}"/>
        </robot>""",
}  # fmt: skip


def written(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_included_files_namespaces_and_yaml_expand_as_in_the_reference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(tmp_path, INCLUDED)
    # The reference asks an installed ROS for packages.
    monkeypatch.setattr("xacro.substitution_args._eval_find", {"my_robot": str(tmp_path)}.__getitem__)
    path = tmp_path / "urdf" / "robot.xacro"
    expected = reference(path)
    assert ours(path) == expected
    assert [child[0] for child in expected[2][:5]] == ["stated", "ns_element", "a", "b", "mass"]


@pytest.mark.parametrize(
    "body",
    [
        '<x v="${undefined}"/>',
        '<x v="${1 +}"/>',
        '<x v="${1/0}"/>',
        '<x v="${"/>',
        "<xacro:unknown/>",
        '<xacro:if value="maybe"/>',
        '<xacro:property name="1a" value="1"/>',
        '<xacro:property name="a.b" value="1"/>',
        '<xacro:property name="class" value="1"/>',
        '<xacro:property name="__a" value="1"/>',
        '<xacro:property name="a" value="${b}"/><xacro:property name="b" value="${a}"/><x v="${a}"/>',
        '<xacro:macro name="call"/>',
        '<xacro:macro name="a.b"/>',
        '<xacro:macro name="m" params="a"/><xacro:m/>',
        '<xacro:macro name="m" params="a"/><xacro:m a="1" b="2"/>',
        '<xacro:macro name="m" params="*a"/><xacro:m/>',
        '<xacro:macro name="m" params=""/><xacro:m><block/></xacro:m>',
        '<xacro:macro name="m" params="a:=^"/><xacro:m/>',
        '<xacro:insert_block name="nothing"/>',
        '<xacro:include filename="nothing.xacro"/>',
        '<x v="$(arg nothing)"/>',
        '<x v="$(anon thing)"/>',
        '<xacro:element xacro:name=""/>',
    ],
)
def test_what_the_reference_refuses_is_refused_with_its_line(tmp_path: Path, body: str) -> None:
    path = tmp_path / "robot.xacro"
    path.write_text(HEAD + "<fine/>\n" + body + "</robot>")
    with pytest.raises((xacro.XacroException, RuntimeError, KeyError)):
        reference(path)
    with pytest.raises(DescriptionError, match=r"^robot\.xacro:3: "):
        ours(path)
