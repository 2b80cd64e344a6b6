"""Files are written whole or not at all, through links, and into whatever is no file."""

from __future__ import annotations

import errno
import gzip
import os
import shlex
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any, NoReturn

import pytest

from safear.errors import InputError
from safear.files import is_stream, make_folder, require_folder, require_output, write_bytes, write_pieces, write_text


def names(folder: str | Path) -> list[str]:
    """What is in a folder."""
    return sorted(path.name for path in Path(folder).iterdir())


@pytest.mark.parametrize("old", [None, "old content"])
@pytest.mark.parametrize("new", ["", "a\nb\r\n", "größe 😀"])
def test_text_is_written_as_it_is(tmp_path: Path, old: str | None, new: str) -> None:
    file = tmp_path / "a.txt"
    if old is not None:
        file.write_text(old, encoding="utf-8")
    write_text(file, new)
    assert file.read_bytes() == new.encode()
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_in_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_text(Path("a.txt"), "text")
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o755])
def test_permissions_are_kept(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old", encoding="utf-8")
    file.chmod(mode)
    write_text(file, "new")
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert file.read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_gets_the_usual_permissions(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write_text(tmp_path / "a.txt", "new")
        (tmp_path / "b.txt").write_text("new", encoding="utf-8")
        assert os.umask(mask) == mask  # as it was
    finally:
        os.umask(before)
    assert (tmp_path / "a.txt").stat().st_mode == (tmp_path / "b.txt").stat().st_mode


def _full_disk(*_: Any, **__: Any) -> NoReturn:
    raise OSError(errno.ENOSPC, "No space left on device")


def _interrupted(*_: Any, **__: Any) -> NoReturn:
    raise KeyboardInterrupt


def _break(monkeypatch: pytest.MonkeyPatch, where: str, how: Callable[..., NoReturn]) -> None:
    """Make a step of writing fail, whichever way it is called."""
    if where == "replace":
        monkeypatch.setattr(os, "replace", how)
        monkeypatch.setattr(os, "rename", how)
        monkeypatch.setattr(Path, "replace", how)
        monkeypatch.setattr(Path, "rename", how)
    elif where == "fsync":
        monkeypatch.setattr(os, "fsync", how)
    elif where == "chmod":
        monkeypatch.setattr(os, "fchmod", how)
    else:
        monkeypatch.setattr(os, "open", how)


@pytest.mark.parametrize("old", [None, "old content"])
@pytest.mark.parametrize("where", ["replace", "fsync", "chmod", "open"])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, old: str | None
) -> None:
    file = tmp_path / "a.txt"
    if old is not None:
        file.write_text(old, encoding="utf-8")
    if where == "chmod" and old is None:
        pytest.skip("only what was there has a mode to keep")
    with monkeypatch.context() as patched:
        _break(patched, where, _full_disk)
        with pytest.raises(InputError) as caught:
            write_text(file, "new content")
    remedy = "make room, or name a file elsewhere"
    assert str(caught.value) == f"{file}: cannot be written: No space left on device\n    {remedy}"
    assert {entry.name: entry.read_text(encoding="utf-8") for entry in tmp_path.iterdir()} == (
        {} if old is None else {"a.txt": old}
    )


@pytest.mark.parametrize("where", ["replace", "fsync"])
def test_an_interruption_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old", encoding="utf-8")
    with monkeypatch.context() as patched:
        _break(patched, where, _interrupted)
        with pytest.raises(KeyboardInterrupt):
            write_text(file, "new")
    assert [(entry.name, entry.read_text(encoding="utf-8")) for entry in tmp_path.iterdir()] == [("a.txt", "old")]


def test_what_prevents_writing_is_told(tmp_path: Path) -> None:
    def said(file: Path) -> str:
        with pytest.raises(InputError) as caught:
            write_text(file, "text")
        return str(caught.value)

    (tmp_path / "folder" / "full").mkdir(parents=True)
    missing, folder = tmp_path / "none" / "a.txt", tmp_path / "folder"
    remedy = f"make the folder '{missing.parent}', or name another"
    assert said(missing) == f"{missing}: cannot be written: there is no such folder\n    {remedy}"
    assert said(folder) == f"{folder}: cannot be written: Is a directory\n    name a file"
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


# ---------------------------------------------------------------------------------------------------- links and devices


def test_a_link_is_written_through(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    real, link, second = tmp_path / "deep" / "real.txt", tmp_path / "link.txt", tmp_path / "second.txt"
    real.write_text("old", encoding="utf-8")
    real.chmod(0o640)
    link.symlink_to("deep/real.txt")
    second.symlink_to(link)
    write_text(second, "new")
    assert (link.is_symlink(), second.is_symlink(), real.is_symlink()) == (True, True, False)
    assert real.read_text(encoding="utf-8") == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert names(tmp_path / "deep") == ["real.txt"]


def test_a_link_to_nothing_makes_what_it_points_to(tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to("new.txt")
    require_output(link)
    write_text(link, "new")
    assert link.is_symlink()
    assert (tmp_path / "new.txt").read_text(encoding="utf-8") == "new"
    link.unlink()
    link.symlink_to("none/new.txt")
    with pytest.raises(InputError, match=f"make the folder '{tmp_path / 'none'}'"):
        write_text(link, "new")


def test_a_link_to_itself_is_told(tmp_path: Path) -> None:
    link = tmp_path / "link.txt"
    link.symlink_to("link.txt")
    for write in (require_output, lambda path: write_text(path, "text")):
        with pytest.raises(InputError, match=r"link\.txt: cannot be written: Too many levels of symbolic links"):
            write(link)
    assert link.is_symlink()


def test_another_name_of_a_file_keeps_what_it_has(tmp_path: Path) -> None:
    """As with `mv`: half of a file would otherwise be seen under its other names."""
    file, other = tmp_path / "a.txt", tmp_path / "b.txt"
    file.write_text("old", encoding="utf-8")
    other.hardlink_to(file)
    write_text(file, "new")
    assert [name.read_text(encoding="utf-8") for name in (file, other)] == ["new", "old"]


def test_a_pipe_is_written_into(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", list[bytes]()
    os.mkfifo(pipe)
    require_output(pipe)  # opens nothing: it would wait for a reader
    reader = Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_pieces(pipe, [b"one ", b"two"])
    reader.join(30)
    assert read == [b"one two"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["pipe"]


def test_devices_stay_devices(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("/dev/null")
    for path in (Path("/dev/null"), link):
        require_output(path)
        write_text(path, "text")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    assert link.is_symlink()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is always full")
def test_a_full_device_is_told() -> None:
    require_output(Path("/dev/full"))
    with pytest.raises(InputError, match="/dev/full: cannot be written: No space left on device\n    make room"):
        write_text(Path("/dev/full"), "text")
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


PROGRAM = """
import sys
from pathlib import Path
from safear.files import require_output, write_text
for name in sys.argv[1:]:
    require_output(Path(name))
print("first", flush=False)
for name in sys.argv[1:]:
    write_text(Path(name), f"into {name}\\n")
print("last")
"""


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
@pytest.mark.parametrize("mode", ["wb", "ab"])
def test_an_open_file_is_written_into_where_it_is(name: str, mode: str, tmp_path: Path) -> None:
    """`safear ... -o /dev/stdout >> log` neither replaces the log nor writes over its beginning."""
    if not Path("/proc/self/fd").exists() and name.startswith("/proc"):
        pytest.skip("this system has no /proc")
    (tmp_path / "link").symlink_to("/dev/stdout")
    log = tmp_path / "log"
    log.write_text("before\n", encoding="utf-8")
    inode = log.stat().st_ino
    with log.open(mode) as stream:
        subprocess.run([sys.executable, "-c", PROGRAM, name], cwd=tmp_path, stdout=stream, check=True, timeout=60)
    before = "before\n" if mode == "ab" else ""
    assert log.read_text(encoding="utf-8") == f"{before}first\ninto {name}\nlast\n"
    assert log.stat().st_ino == inode


def test_pipes_of_the_shell_are_written_into(tmp_path: Path) -> None:
    """Process substitution, and a pipeline."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    program = f"{shlex.quote(sys.executable)} -c {shlex.quote(PROGRAM)}"
    script = f"set -o pipefail; {program} >(cat > substituted) /dev/stdout | cat > piped; while [ ! -s substituted ]; do sleep 0.01; done"  # noqa: E501
    subprocess.run([bash, "-c", script], cwd=tmp_path, check=True, timeout=60)
    assert (tmp_path / "substituted").read_text(encoding="utf-8").startswith("into /dev/fd/")
    assert "first\ninto /dev/stdout\n" in (tmp_path / "piped").read_text(encoding="utf-8").replace("last\n", "")


def test_a_file_that_is_open_for_reading_is_told(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    handle = os.open(tmp_path / "a", os.O_RDONLY)
    try:
        with pytest.raises(InputError, match="it is open for reading only"):
            require_output(Path(f"/dev/fd/{handle}"))
    finally:
        os.close(handle)
    with pytest.raises(InputError, match="Bad file descriptor"):
        require_output(Path(f"/dev/fd/{handle}"))


def test_what_is_a_stream(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    streams = ["/dev/null", "/dev/stdout", str(tmp_path / "pipe")]
    others = [str(tmp_path), str(tmp_path / "file"), str(tmp_path / "none"), "a\0b"]
    assert [is_stream(Path(name)) for name in [*streams, *others]] == [True] * 3 + [False] * 4


# --------------------------------------------------------------------------------------------------- what is refused


def as_nobody(what: Callable[[], None]) -> int:
    """Do something as somebody who may nothing."""
    return as_user(65534, [], what)


def as_user(user: int, groups: list[int], what: Callable[[], None]) -> int:
    """Do something in another process as somebody else; 0 if it raised nothing."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups(groups)
            os.setgid(user)
            os.setuid(user)
            what()
        except BaseException:  # noqa: BLE001  # its code is all that is seen of it
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that everybody can look into."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def test_what_one_may_not_write_is_told_beforehand(public: Path) -> None:
    (public / "folder").mkdir()
    (public / "open").mkdir()
    file = public / "open" / "file"
    file.touch(0o444)
    (public / "open").chmod(0o777)
    (public / "folder").chmod(0o555)

    def check() -> None:
        inside = public / "folder" / "a.txt"
        for write in (require_output, lambda path: write_text(path, "text")):
            with pytest.raises(InputError, match="you may not write to this folder\n    name a file in another folder"):
                write(inside)
            with pytest.raises(InputError, match="you may not write to it\n"):  # though it could be replaced
                write(file)
        with pytest.raises(InputError, match="you may not write to this folder"):
            require_folder(public / "folder" / "new")
        with pytest.raises(InputError, match="you may not write to this folder"):
            require_folder(public / "folder")

    if os.geteuid() == 0:
        assert as_nobody(check) == 0
    else:
        check()
    (public / "folder").chmod(0o755)
    assert (names(public / "folder"), names(public / "open")) == ([], ["file"])


def test_checking_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("old", encoding="utf-8")
    before = file.stat().st_mtime_ns
    for path in (file, tmp_path / "new.txt"):
        require_output(path)
    require_folder(tmp_path / "new")
    require_folder(tmp_path)
    require_folder(tmp_path / "a" / "b" / "c", parents=True)
    assert names(tmp_path) == ["a.txt"]
    for name in ("new", "any", "x"):  # whatever is in a folder, more can be
        (tmp_path / "full" / name).mkdir(parents=True)
    require_folder(tmp_path / "full")
    make_folder(tmp_path / "full")
    assert names(tmp_path / "full") == ["any", "new", "x"]
    assert (file.read_text(encoding="utf-8"), file.stat().st_mtime_ns) == ("old", before)
    for path in (file, file / "in", tmp_path / "no" / "folder"):
        with pytest.raises(InputError, match="cannot be written"):
            require_folder(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody")
def test_a_file_stays_that_of_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.touch(0o600)
    os.chown(file, 65534, 65534)
    write_text(file, "new")
    found = file.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (65534, 65534, 0o600)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become several people")
@pytest.mark.parametrize(("groups", "group", "mode"), [([2000], 2000, 0o660), ([], 1002, 0o600)])
def test_a_shared_file_stays_that_of_its_group(public: Path, groups: list[int], group: int, mode: int) -> None:
    """Whoever belongs to the group leaves it to the group; the group of whoever does not gets nothing."""
    (public / "shared").mkdir()
    (public / "shared").chmod(0o777)
    file = public / "shared" / "a.txt"
    file.touch()
    os.chown(file, 1001, 2000)
    file.chmod(0o660 if groups else 0o666)
    assert as_user(1002, groups, lambda: write_text(file, "new")) == 0
    found = file.stat()
    assert file.read_text() == "new"
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode) & 0o770) == (1002, group, mode)


def test_a_file_that_grows_too_large_leaves_the_old_one(tmp_path: Path) -> None:
    """As on a full disk, but without one: a limit of the system in a process of its own."""
    file = tmp_path / "a.bin"
    file.write_bytes(b"old")
    program = (
        "import resource, signal, sys; from pathlib import Path; from safear.files import write_bytes\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "write_bytes(Path('a.bin'), bytes(1_000_000))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60)  # noqa: PLW1510
    assert "safear.errors.InputError: a.bin: cannot be written: File too large\n    allow larger files" in done.stderr
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"a.bin": b"old"}


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("mount") is None, reason="only root can mount a small disk")
def test_a_disk_that_is_full_or_read_only(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("nothing can be mounted here")
    try:
        write_bytes(disk / "a.bin", b"old")
        with pytest.raises(InputError, match=r"a\.bin: cannot be written: No space left on device\n    make room"):
            write_bytes(disk / "a.bin", bytes(1_000_000))
        assert {path.name: path.read_bytes() for path in disk.iterdir()} == {"a.bin": b"old"}
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        for path in (disk / "a.bin", disk / "b.bin"):
            with pytest.raises(InputError, match=r"cannot be written: Read-only file system|you may not write to it"):
                require_output(path)
    finally:
        subprocess.run(["umount", disk], check=True)


def test_errors_of_what_is_written_are_not_those_of_writing(tmp_path: Path) -> None:
    def read() -> Iterator[bytes]:
        yield b"half"
        raise gzip.BadGzipFile("CRC check failed")

    with pytest.raises(gzip.BadGzipFile):
        write_pieces(tmp_path / "a.bin", read())
    assert names(tmp_path) == []


def test_a_name_as_long_as_names_can_be(tmp_path: Path) -> None:
    write_text(tmp_path / ("x" * 255), "text")
    with pytest.raises(InputError, match="File name too long"):
        require_output(tmp_path / ("x" * 256))
    with pytest.raises(InputError, match="cannot be written"):
        write_text(Path("a\0b"), "text")
