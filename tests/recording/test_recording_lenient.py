"""Reading on past defects: every row left out is named with its file, row and line, and nothing else is."""

import numpy as np
import pytest

from shared_material import DATA
from steelyard.errors import RecordingError
from steelyard.recording import Recording, inspect_recording, read, write
from steelyard.recording.assembly import increasing
from steelyard.recording.inspection.garbage import garbage_rows
from steelyard.recording.table import KEPT, Column

N = 200
T = 0.01 * np.arange(N)
Q = np.column_stack([np.sin(2 * T), 0.5 * np.cos(3 * T)])
V = np.column_stack([2 * np.cos(2 * T), -1.5 * np.sin(3 * T)])


def lines():
    head = "t,q_1,q_2,v_1,v_2"
    body = [",".join(f"{x:.9g}" for x in (T[k], *Q[k], *V[k])) for k in range(N)]
    return head, body


def written(tmp_path, body, head=None):
    path = tmp_path / "log.csv"
    path.write_text("\n".join([head or lines()[0], *body]) + "\n")
    return path


def test_a_sound_log_is_the_same_read_either_way(tmp_path):
    path = written(tmp_path, lines()[1])
    reading = read(path, lenient=True)
    assert reading.recording == read(path)
    assert reading.findings == ()


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("0.3,1.5", "broken-row", "'0.3,1.5' has 2 cells where the header has 5"),
        ("0.3,1,2,3,4,5,6", "broken-row", "has 7 cells"),
        ("0.3,1,,3,4", "bad-cell", "'' is empty"),
        ("0.3,1,2,\\x00?,4", "bad-cell", "is not a number"),
        ("0.3,1,nan,3,4", "bad-cell", "'nan' is not finite"),
        ("0.1,0.56,0.41,1.65,-1.17", "time-order", "time does not increase here"),
        ("0.3,253,253,1,2", "garbage-row", "do not follow from the rows around it"),
        ("0.3,0.5646,0.3108,1e200,0", "garbage-row", "do not follow from the rows around it"),
    ],
)
def test_each_kind_of_bad_row_is_named_with_its_row_and_line(tmp_path, text, code, said):
    body = lines()[1]
    body[30] = text
    path = written(tmp_path, body)
    reading = read(path, lenient=True)
    (finding,) = reading.findings
    assert finding.code == code
    assert said in finding.message
    assert finding.place.startswith("log.csv: row 30 (line 32)")
    np.testing.assert_allclose(reading.recording.q, np.delete(Q, 30, axis=0), rtol=1e-8, atol=1e-12)
    assert reading.recording.provenance[-1].detail["left_out"] == ((30, 30),)
    if code not in ("garbage-row",):
        with pytest.raises(RecordingError):
            read(path)


def test_bytes_that_are_no_text_spoil_their_own_row_only(tmp_path):
    path = written(tmp_path, lines()[1])
    rows = path.read_bytes().split(b"\n")
    rows[11] = b"\xff\xfe\x00\x80"
    path.write_bytes(b"\n".join(rows))
    reading = read(path, lenient=True)
    assert reading.recording.n == N - 1
    (finding,) = reading.findings
    assert "row 10 (line 12)" in finding.place


def test_many_bad_rows_are_all_named(tmp_path):
    body = lines()[1]
    bad = [3, 4, 5, 50, 120, 199]
    for k in bad:
        body[k] = body[k].replace(",", ",x", 1)
    reading = read(written(tmp_path, body), lenient=True)
    assert [int(f.place.split("row ")[1].split(" ")[0]) for f in reading.findings] == bad
    assert reading.recording.n == N - len(bad)


def test_bad_cells_beyond_the_first_are_counted_but_not_described():
    values = np.full(KEPT + 3, np.nan)
    values[1] = 2.0
    column = Column.of("q_1", values)
    assert column.unusable == KEPT + 2
    assert [defect.row for defect in column.defects] == [0, *range(2, KEPT + 1)]


def test_rows_keep_their_numbers_behind_rows_that_could_not_be_split(tmp_path):
    body = lines()[1]
    body[10] = "broken"
    body[30] = "0.3,253,253,1,2"
    body[40:42] = [body[5], body[6]]
    reading = read(written(tmp_path, body), lenient=True)
    assert [finding.place for finding in reading.findings] == [
        "log.csv: row 10 (line 12)",
        "log.csv: rows 40 to 41 (lines 42 to 43)",
        "log.csv: row 30 (line 32)",
    ]
    assert reading.recording.provenance[-1].detail["left_out"] == ((10, 10), (30, 30), (40, 41))


def test_a_file_of_bad_rows_alone_is_refused_with_the_first(tmp_path):
    with pytest.raises(
        RecordingError, match=r"only 0 of its rows can be used. The first: warning: row 0 \(line 2"
    ):
        read(written(tmp_path, ["a,b,c,d,e"] * 5), lenient=True)


def test_every_format_is_read_leniently(tmp_path):
    recording = Recording(("a", "b"), T, Q, V)
    for suffix in (".csv", ".npz", ".parquet"):
        write(recording, tmp_path / f"log{suffix}")
        reading = read(tmp_path / f"log{suffix}", lenient=True)
        assert reading.recording == recording
        assert not reading.findings


def test_the_fewest_samples_are_given_up_for_time_to_increase():
    rng = np.random.default_rng(0)
    for _ in range(50):
        time = rng.integers(0, 9, size=8).astype(float)
        kept = increasing(time)
        assert (np.diff(time[kept]) > 0).all()
        assert (np.diff(kept) > 0).all()
        subsets = (np.flatnonzero([(mask >> i) & 1 for i in range(8)]) for mask in range(1, 256))
        longest = max(len(s) for s in subsets if (np.diff(time[s]) > 0).all())
        assert len(kept) == longest


@pytest.mark.parametrize("velocity", [True, False])
@pytest.mark.parametrize("noise", [0.0, 1e-4])
def test_garbage_is_found_wherever_it_stands_and_motion_is_kept(velocity, noise):
    rng = np.random.default_rng(4)
    for _ in range(20):
        q, v = Q + noise * rng.normal(size=Q.shape), V + 10 * noise * rng.normal(size=V.shape)
        bad = np.sort(rng.choice(N, size=8, replace=False))
        q[bad] += rng.choice([-1, 1], size=(8, 1)) * rng.uniform(0.6, 300, size=(8, 2))
        channels = {"q": q, "v": v} if velocity else {"q": q}
        assert np.flatnonzero(garbage_rows(T, channels)).tolist() == bad.tolist()


def test_a_log_that_pauses_and_resumes_elsewhere_is_not_garbage():
    q = Q.copy()
    q[120:] += 3.0
    time = T.copy()
    time[120:] += 8.0
    assert not garbage_rows(time, {"q": q, "v": V}).any()


def test_garbage_in_a_recording_is_an_error_of_its_inspection():
    q = Q.copy()
    q[77] = 40.0
    findings = inspect_recording(Recording(("a", "b"), T, q, V))
    assert [(f.severity.value, f.code, f.place) for f in findings] == [("error", "garbage-row", "row 77")]


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder ../shared is not here")
def test_the_corrupt_ur10e_log_is_read_with_every_bad_row_named():
    path = DATA / "ur10e" / "raw_corrupt" / "ur-19_09_27-11_32_02.csv"
    columns = "1=time, 2-7=q, 8-13=v, 14-19=current"
    reading = read(path, columns=columns, lenient=True)
    (finding,) = reading.findings
    # Stray memory until the arm is seen at rest in its home pose (0, -π/2, 0, -π/2, 0, 0) in row 20.
    assert finding.code == "garbage-row"
    assert finding.place == f"{path.name}: rows 0 to 19 (lines 1 to 20)"
    raw = np.loadtxt(path, delimiter=",")
    np.testing.assert_array_equal(reading.recording.q, raw[20:, 1:7])
    np.testing.assert_array_equal(reading.recording.current, raw[20:, 13:19])
    np.testing.assert_allclose(raw[20, 1:7], [0, -np.pi / 2, 0, -np.pi / 2, 0, 0], atol=2e-4)
    assert any(f.code == "garbage-row" for f in inspect_recording(read(path, columns=columns)))


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder ../shared is not here")
@pytest.mark.parametrize("name", [str(p.relative_to(DATA)) for p in sorted(DATA.glob("*/*.csv"))])
def test_no_row_of_a_sound_real_log_is_given_up(name):
    reading = read(DATA / name, lenient=True)
    assert reading.findings == ()
    assert reading.recording == read(DATA / name)
