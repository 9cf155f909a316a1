"""The manual page and the completions: all commands and options are there, and the programs they are for take them."""
import re
import shutil
import subprocess

from commanding import CommandCase, main


class Manual(CommandCase):
    def options_of(self, command):
        return re.findall(r"^  (--?[a-z-]+)", self.ok(command, "--help").split("Options:")[1], re.M)

    def commands(self):
        return re.findall(r"^  ([a-z]+) ", self.ok("--help").split("help language")[0], re.M)

    def check(self, text, plain):
        self.assertIn("show", self.commands())
        for command in set(self.commands()) - {"help"}:
            for option in self.options_of(command):
                self.assertIn(plain(option), text, command)

    def test_page(self):
        page = self.ok("help", "man")
        self.check(page, lambda option: option.replace("-", r"\-"))
        self.assertRegex(page, r"^\.TH KILN 1")
        self.assertIn(".png", page)
        if shutil.which("groff"):
            run = subprocess.run(["groff", "-man", "-Tascii", "-ww", "-rLL=500n"], input=page, text=True, capture_output=True)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            self.assertIn("kiln map", run.stdout)

    def test_bash(self):
        script = self.ok("help", "completion", "bash")
        self.check(script, str)
        self.write("kiln.bash", script.encode())
        for words, expected in ((("kiln", "sh"), "show"), (("kiln", "map", "--qui"), "--quiet"), (("kiln", "eval", "--to", "pn"), "pnm png"),
                                (("kiln", "cache", "st"), "stats"), (("kiln", "map", "--order", ""), "C F A K"), (("kiln", "help", "lang"), "language"),
                                (("kiln", "map", "x"), "")):
            line = f"""source ./kiln.bash; COMP_WORDS=({' '.join(repr(w) for w in words)}); COMP_CWORD={len(words) - 1}; _kiln; echo "${{COMPREPLY[*]}}" """
            run = subprocess.run(["bash", "-c", line], cwd=self.folder, text=True, capture_output=True)
            self.assertEqual((run.stdout.strip(), run.stderr), (expected, ""), words)

    def test_zsh_and_fish(self):
        zsh, fish = self.ok("help", "completion", "zsh"), self.ok("help", "completion", "fish")
        self.check(zsh, str)
        self.check(fish, lambda option: f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}")
        for script in (zsh, fish):
            self.assertIn("host, cuda or cuda:N; default: KILN_TARGET, else cuda:0 where there is one", script)
            self.assertRegex(script, r"\(path stats list verify gc|-a 'path stats list verify gc")
        for shell, script in (("zsh", zsh), ("fish", fish)):
            if shutil.which(shell):
                run = subprocess.run([shell, "-n", self.write("script", script.encode())], cwd=self.folder, capture_output=True)
                self.assertEqual((run.returncode, run.stderr), (0, b""), shell)

    def test_other_shells(self):
        self.assertIn("help completion takes bash, zsh or fish, not 'csh'", self.refused(2, "help", "completion", "csh"))
        self.assertIn("not ''", self.refused(2, "help", "completion"))


main()
