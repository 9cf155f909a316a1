"""The snippets of the documents: the fenced blocks of a Markdown file, and the example that opens a public header.

A comment in front of a block says what a reader need not see:

    <!-- hidden c          code that stands in front of the block, of the same section
    int n = 3; -->
    <!-- outside -->       the block is for the file, not for a function
    <!-- compiled alone: why -->   the block is not run (sh: its syntax is checked)
    <!-- lines REGEX: why -->      of a script those lines are not run
"""
import dataclasses
import re

DIRECTIVE = re.compile(r"<!-- (hidden|outside|compiled alone|lines)(.*?)-->", re.S)
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)
HEADING = re.compile(r"^#+ ([^\n]*)$", re.M)
PIECE = re.compile("|".join(f"(?:{p.pattern})" for p in (DIRECTIVE, FENCE, HEADING)), re.S | re.M)


@dataclasses.dataclass
class Block:
    heading: str
    language: str
    text: str
    line: int  # of its first line in the file
    is_outside: bool = False
    is_run: bool = True
    left_out: str = ""  # lines that match are not run
    is_hidden: bool = False


def blocks(text):
    """The blocks of a document, in their order; what is hidden is one, too."""
    found, heading, now = [], "", {}
    for piece in PIECE.finditer(text):
        directive, rest, language, code, title = piece.groups()
        line = text.count("\n", 0, piece.start()) + 2
        if title is not None:
            heading = title
        elif directive == "hidden":
            language, code = rest.strip().split("\n", 1)
            found.append(Block(heading, language, code + "\n", line, is_hidden=True))
        elif directive == "outside":
            now["is_outside"] = True
        elif directive == "compiled alone":
            now["is_run"] = False
        elif directive == "lines":
            now["left_out"] = rest.strip().rsplit(": ", 1)[0]
        else:
            found.append(Block(heading, language, code, line, **now))
            now = {}
    if now:
        raise ValueError(f"what {now} is meant for does not follow")
    return found


def opening_example(header):
    """What stands four columns in, in the first comment of a header, or ""."""
    comment = header[:header.index("\n */")]
    return "".join(f"{line[7:]}\n" for line in comment.splitlines() if re.match(r" \* {5}", line))
