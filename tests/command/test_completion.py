"""Completion as people meet it: bash and zsh on terminals, into which lines and a tab are typed, and fish, which says what it would offer. A shell that
is not installed is skipped."""
import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import termios
import time
import unittest

from commanding import CommandCase, main

# What is typed, and what stands there after a tab, or which words are offered.
LINES = [
    ("kiln sh", "kiln show "),
    ("kiln --v", "kiln --version "),
    ("kiln e", {"eval", "explain"}),
    ("kiln help lan", "kiln help language "),
    ("kiln help completion ", {"bash", "zsh", "fish"}),
    ("kiln help map ", set()),
    ("kiln map --qui", "kiln map --quiet "),
    ("kiln map --t", {"--to", "--target", "--type", "--text"}),
    ("kiln map --order ", {"C", "F", "A", "K"}),
    ("kiln map --order x", set()),
    ("kiln eval --to pn", {"pnm", "png"}),
    ("kiln eval --target h", "kiln eval --target host "),
    ("kiln show --raw bf", "kiln show --raw bfloat16 "),
    ("kiln show --header a", "kiln show --header auto "),
    ("kiln source --arch sm_10", {"sm_100", "sm_103"}),
    ("kiln bake --arch pt", "kiln bake --arch ptx "),
    ("kiln bake --host x86-64-v4", "kiln bake --host x86-64-v4 "),
    ("kiln bake --host ho", "kiln bake --host host "),
    ("kiln map --type T=bfl", "kiln map --type T=bfloat16 "),
    ("kiln bench --row S1", "kiln bench --row S1 "),
    ("kiln map --name in", set()),
    ("kiln map in", "kiln map input.npy "),
    ("kiln show 'a b", "kiln show 'a b.npy' "),
    ("kiln map -o in", "kiln map -o input.npy "),
    ("kiln eval 'x + 1' x=in", "kiln eval 'x + 1' x=input.npy "),
    ("kiln eval x -o x=in", "kiln eval x -o x=input.npy "),
    ("kiln cache ver", "kiln cache verify "),
    ("kiln cache i", {"import", "inspect"}),
    ("kiln cache import in", "kiln cache import input.npy "),
    ("kiln bake --include fold", "kiln bake --include folder/"),
    ("kiln operations argma", "kiln operations argmax "),
    ("kiln operations inp", set()),
    ("kiln info in", set()),
]


class Terminal:
    """A shell on a terminal that is wide enough for all that it lists. Its `setup` makes a tab, or what is in `tab`, complete the line and then say
    ANSWER<line>."""

    def __init__(self, words, folder, setup, tab):
        self.tab = tab
        self.process, self.terminal = pty.fork()
        if self.process == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, {"TERM": "dumb", "HOME": str(folder), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "INPUTRC": "/dev/null"})
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 500, 400, 0, 0))
        self.send(setup + "\necho 'REA''DY'\n")
        self.read_until(r"READY\r\n")

    def send(self, text):
        os.write(self.terminal, text.encode())

    def read_until(self, pattern):
        said, end = "", time.monotonic() + 60
        while not re.search(pattern, said):
            if time.monotonic() > end or not select.select([self.terminal], [], [], end - time.monotonic())[0]:
                raise AssertionError(f"no {pattern}, but {said!r}")
            said += os.read(self.terminal, 65536).decode(errors="replace")
        return said

    def complete(self, line):
        """(what the line is then, what was printed meanwhile)"""
        self.send(line + self.tab)
        said = self.read_until(r"ANSWER<[^>]*>\r\n")
        before, answer = re.search(r"(.*)ANSWER<([^>]*)>", said, re.S).groups()
        return answer, before

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.process, 0)


class Completion(CommandCase):
    def setUp(self):
        super().setUp()
        (self.folder / "here").mkdir()
        (self.folder / "here/folder").mkdir()
        for name in ("input.npy", "a b.npy"):
            self.write(f"here/{name}", b"")
        for shell, name in (("bash", "kiln.bash"), ("zsh", "_kiln"), ("fish", "kiln.fish")):
            self.write(name, self.ok("help", "completion", shell).encode())

    def need(self, shell):
        if not shutil.which(shell):
            raise unittest.SkipTest(f"{shell} is not installed")

    def check_lines(self, terminal):
        self.addCleanup(terminal.close)
        for line, expected in LINES:
            answer, listed = terminal.complete(line)
            with self.subTest(line=line):
                if isinstance(expected, str):
                    self.assertEqual(answer, expected, listed)
                    continue
                # Below the line, which is printed again: words, or one a line with what it means.
                lines = [row.split(" -- ")[0] for row in listed.split("\r\n") if not row.lstrip().startswith("kiln ")]
                self.assertEqual(set(" ".join(lines).split()), expected, listed)
                self.assertEqual(answer, line)

    def test_bash(self):
        self.need("bash")
        self.check_lines(Terminal(["bash", "--norc", "-i"], self.folder / "here",
                                  "PS1=; bind 'set show-all-if-ambiguous on' 'set completion-query-items 0' 'set page-completions off' 'set bell-style none'; "
                                  "source ../kiln.bash; say() { echo; echo \"ANS\"\"WER<$READLINE_LINE>\"; READLINE_LINE=; }; bind -x '\"\\C-o\": say'", "\t\x0f"))

    def test_zsh(self):
        self.need("zsh")
        terminal = Terminal(["zsh", "-f", "-i"], self.folder / "here",
                            "PS1=; fpath=(.. $fpath); autoload -Uz compinit; compinit -u -D; LISTMAX=10000; unsetopt beep list_beep; "
                            "say() { zle complete-word; zle -R; zle -I; print; print -r -- \"ANS\"\"WER<$BUFFER>\"; BUFFER= }; zle -N say; bindkey '^I' say", "\t")
        self.check_lines(terminal)
        # Colons, brackets and quotes of descriptions are printed, and part nothing.
        listed = terminal.complete("kiln map --")[1]
        self.assertRegex(listed, r"--target +-- host, cuda or cuda:N; default: KILN_TARGET, else cuda:0 where there is one, else host *\r\n")
        self.assertRegex(listed, r"--order +-- the outputs' memory order: C, Fortran's, A for Fortran's if all inputs have that, or K to keep the inputs'; default C *\r\n")
        self.assertRegex(terminal.complete("kiln ")[1], r"show +-- print what files hold: dtype, shape, values, least, greatest, NaNs *\r\n")

    def test_fish(self):
        self.need("fish")
        lines = [line for line, _ in LINES] + ["kiln map --ta", "kiln sho"]
        script = "source ../kiln.fish; for line in $argv; complete -C $line; echo =====; end"
        run = subprocess.run(["fish", "-N", "-c", script, *lines], cwd=self.folder / "here", text=True, capture_output=True,
                             env={"HOME": str(self.folder), "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"})
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        offers = [dict(word.partition("\t")[::2] for word in part.splitlines()) for part in run.stdout.split("=====\n")]
        for (line, expected), offered in zip(LINES, offers):
            with self.subTest(line=line):
                if isinstance(expected, str):
                    expected = {"a b.npy" if "a b" in line else expected.split()[-1]}
                self.assertEqual(set(offered), expected)
        self.assertEqual(offers[-3], {"--target": "host, cuda or cuda:N; default: KILN_TARGET, else cuda:0 where there is one, else host"})
        self.assertEqual(offers[-2], {"show": "print what files hold: dtype, shape, values, least, greatest, NaNs"})


main()
