"""CSV as the world writes it: accepted where it is clear, refused with its place where it is not."""

import numpy as np
import pytest

from steelyard.errors import RecordingError
from steelyard.recording import read
from steelyard.recording.table import Defect

CLEAN = "time,q_1,q_2\n0,1.5,-2\n0.1,1e-3,+4\n0.2,.5,6.\n"
Q = [[1.5, -2.0], [1e-3, 4.0], [0.5, 6.0]]


def written(tmp_path, content):
    path = tmp_path / "log.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(
    "content",
    [
        CLEAN,
        CLEAN.replace(",", ";"),
        CLEAN.replace(",", "\t"),
        CLEAN.replace(",", ", "),
        CLEAN.replace(",", "  "),
        CLEAN.replace(",", " \t ").replace("\t", "") + "  \n",
        "  " + CLEAN.replace(",", " ").replace("\n", " \r\n   "),
        "\ufeff" + CLEAN,
        CLEAN.replace("\n", "\r\n"),
        CLEAN.replace("\n", "\r"),
        CLEAN + "\n\n  \n",
        CLEAN.rstrip(),
        "# made by hand\n\n  # in SI\n" + CLEAN,
        CLEAN.replace("time,q_1", '"time","q_1"'),
        CLEAN.replace("1.5", '"1.5"'),
        CLEAN.replace("\n0.1", "\n\n0.1"),
        CLEAN.replace("time", " Time "),
    ],
)
def test_harmless_differences_do_not_matter(tmp_path, content):
    recording = read(written(tmp_path, content))
    assert recording.joints == ("1", "2")
    assert recording.time.tolist() == [0, 0.1, 0.2]
    assert recording.q.tolist() == Q


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n \n# only a comment\n", "holds no header and no rows"),
        ("time,q_1\n", "has a header but no rows"),
        ("time,q_1\n0,1\n", "time: a recording needs at least 2 samples, got 1"),
        ("0,1.5,-2\n0.1,1,2\n", "starts with a row of 3 numbers; a header is needed.*such as time,q_1,q_2"),
        (
            CLEAN.replace("1.5", "abc"),
            r"1 place cannot be used: row 0 \(line 2\), column 'q_1': 'abc' is not a num",
        ),
        (CLEAN.replace("1e-3", ""), r"row 1 \(line 3\), column 'q_1': '' is empty"),
        (CLEAN.replace(",", ";").replace("1.5", "1,5"), "'1,5' is not a number. Write decimals with a point"),
        (CLEAN.replace("1e-3", "nan"), r"row 1 \(line 3\), column 'q_1': 'nan' is not finite"),
        (CLEAN.replace("1e-3", "-Inf"), "'-Inf' is not finite"),
        (CLEAN.replace("1e-3", "1e400"), "'1e400' is not finite"),
        (CLEAN.replace("1e-3", "1_000"), "'1_000' is not a number"),
        (CLEAN.replace("1e-3", "0x10"), "'0x10' is not a number"),
        (CLEAN.replace("0.2,", "x,"), r"row 2 \(line 4\), column 'time': 'x' is not a number"),
        ("#a\n\n" + CLEAN.replace("0.1,", "\n0.1,z"), r"row 1 \(line 6\), column 'q_1': 'z1e-3'"),
        (CLEAN + "0.3,1", r"row 3 \(line 5\): '0.3,1' has 2 cells where the header has 3"),
        (CLEAN.replace("-2", "-2,9"), r"row 0 \(line 2\): '0,1.5,-2,9' has 4 cells where the header has 3"),
        (CLEAN.replace("0.2", "0.1"), "time: must increase, but goes from 0.1 s to 0.1 s at row 2"),
        (CLEAN.replace(",", "\0"), "is not text: line 1 holds a NUL byte"),
        (CLEAN.replace("1.5", "\0"), "is not text: line 2 holds a NUL byte"),
        (CLEAN.encode("utf-16"), "is UTF-16 text. Save it as UTF-8"),
        (CLEAN.replace("q_1", "é").encode("latin-1"), "is not UTF-8 text: byte 5 is 0xe9"),
        (",".join(f"q_{k}" for k in range(100_000)) + "\n1\n", "has 100000 columns; at most 4096 are read"),
        ("x" * (1 << 20) + "y,time,q_1\n0,1\n", "line 1 has 1048586 characters; at most 1048576"),
        ("x" * 200_000 + ",time,q_1\n0,0,1\n", "the header cannot be read: field larger than field limit"),
        (CLEAN.replace("1.5", "9" * (1 << 22)), "'9{40}' is not finite"),
        (CLEAN.replace("1.5", '"' + "9" * (1 << 22) + '"'), "cannot be split into rows and cells"),
        (CLEAN.replace("1.5", "9" * 5000), "'9{40}' is not finite"),
        (
            CLEAN.replace("q_1", "q_\x07"),
            "name '.x07' has spaces at its ends or characters that cannot be printed",
        ),
        (CLEAN.replace("q_1", '"q_1'), "no joint positions among|no time among|cells where the header"),
    ],
)
def test_defects_are_refused_with_their_place(tmp_path, content, message):
    with pytest.raises(RecordingError, match=f"log.csv: .*(?:{message})"):
        read(written(tmp_path, content))


def test_many_defects_are_counted_and_the_first_five_shown(tmp_path):
    rows = [f"{k},{'bad' if k % 10 == 3 else k},{'' if k % 50 == 4 else k}" for k in range(200)]
    with pytest.raises(RecordingError, match=r"24 places cannot be used: .*; and 19 more") as caught:
        read(written(tmp_path, "time,q_1,q_2\n" + "\n".join(rows)))
    shown = caught.value.evidence["defects"]
    assert shown == (
        Defect(3, "q_1", "bad", "is not a number", 5),
        Defect(4, "q_2", "", "is empty", 6),
        Defect(13, "q_1", "bad", "is not a number", 15),
        Defect(23, "q_1", "bad", "is not a number", 25),
        Defect(33, "q_1", "bad", "is not a number", 35),
    )


def test_a_defect_far_down_a_large_file_is_found_at_its_line(tmp_path):
    rows = [f"{k},{k / 3!r},{k / 7!r}" for k in range(60_000)]
    rows[41_000] += ",1"
    with pytest.raises(RecordingError, match=r"1 place cannot be used: row 41000 \(line 41002\)"):
        read(written(tmp_path, "time,q_1,q_2\n" + "\n".join(rows)))
    rows[41_000] = "41000,?,1"
    with pytest.raises(
        RecordingError, match=r"1 place cannot be used: row 41000 \(line 41002\), column 'q_1'"
    ):
        read(written(tmp_path, "time,q_1,q_2\n" + "\n".join(rows)))


def test_text_columns_do_not_spoil_the_numbers(tmp_path):
    rng = np.random.default_rng(1)
    values = rng.normal(size=50)
    rows = [f"{k},{value!r},run {k}" for k, value in enumerate(values.tolist())]
    recording = read(written(tmp_path, "time,q_1,state\n" + "\n".join(rows)))
    assert recording.q[:, 0].tobytes() == values.tobytes()
