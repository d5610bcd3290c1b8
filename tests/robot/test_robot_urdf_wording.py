"""Words that readers pass over in silence are reported: repeated elements, and words that are misspelt."""

from __future__ import annotations

import pytest

from steelyard.robot import parse_urdf

GOOD = """<robot name="r">
<link name="a"/>
<link name="b"><inertial><mass value="2"/>
<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/>
<limit lower="-1" upper="1" velocity="2" effort="3"/><safety_controller k_velocity="1"/></joint>
<gazebo reference="b"><limits/><inertial/><inertial/></gazebo>
</robot>
"""


def test_the_words_of_urdf_and_those_of_other_tools_are_not_reported() -> None:
    assert parse_urdf(GOOD).findings == ()


@pytest.mark.parametrize(
    ("old", "new", "code", "line", "said"),
    [
        ("</joint>", '<limit lower="0"/></joint>', "repeated-element", 6, "<limit> stands twice in <joint>"),
        ("</link>", "<inertial/></link>", "repeated-element", 4, "<inertial> stands twice in <link>"),
        ('<mass value="2"/>', '<mass value="2"/>\n<mass value="3"/>', "repeated-element", 4, "<mass>"),
        (' lower="-1"', ' lowr="-1"', "misspelt", 6, "'lowr', which is not read; 'lower' is missing"),
        (' lower="-1"', ' Lower="-1"', "misspelt", 6, "'Lower'"),
        ("</joint>", '<dynamic damping="1"/></joint>', "misspelt", 6, "did you mean <dynamics>?"),
        ("</robot>", "<links/></robot>", "misspelt", 8, "did you mean <link>?"),
    ],
)
def test_an_odd_word_is_reported_with_its_line(old: str, new: str, code: str, line: int, said: str) -> None:
    (finding,) = parse_urdf(GOOD.replace(old, new, 1), "r.urdf").findings
    assert (finding.code, finding.place, finding.severity) == (code, f"r.urdf:{line}", "warning")
    assert said in finding.message
