"""The kernels that a checkout of CuPy defines by texts that stand in it: ElementwiseKernel, ReductionKernel, create_ufunc and create_reduction_func whose
arguments are literals, or names of the module's that are. Nothing of CuPy is run, and none of its texts are kept here."""
import ast
import pathlib
import re
import textwrap

CALLS = {  # the parameters, in CuPy's order
    "ElementwiseKernel": "in_params out_params operation name reduce_dims preamble no_return return_tuple loop_prep after_loop options".split(),
    "ReductionKernel": "in_params out_params map_expr reduce_expr post_map_expr identity name reduce_type reduce_dims preamble options".split(),
    "create_ufunc": "name ops routine preamble doc default_casting loop_prep out_ops".split(),
    "create_reduction_func": "name ops routine identity preamble".split(),
}
CALL = re.compile(r"\b(%s)\(" % "|".join(CALLS))
ASSIGNMENT = re.compile(r"^(?:cdef\s+(?:\w+\s+)?)?(\w+)\s*=\s*(?!=)", re.M)
TOKEN = re.compile(r"'''|\"\"\"|'|\"|#[^\n]*|[()\[\]{}]|\n", re.S)


class NotLiteral(Exception):
    pass


def expression_end(text, at, closes):
    """Where the expression that begins at `at` ends: at its closing bracket, or with the line where no bracket is open."""
    depth = 1 if closes else 0
    while True:
        match = TOKEN.search(text, at)
        if not match:
            return len(text)
        token, at = match.group(), match.end()
        if token in ("'''", '"""', "'", '"'):
            while not text.startswith(token, at):
                at += 2 if text[at] == "\\" else 1
                if at >= len(text):
                    return at
            at += len(token)
        elif token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
            if depth == 0 and closes:
                return at
        elif token == "\n" and depth == 0 and not text[:match.start()].endswith("\\"):
            return match.start()


IMPORT = re.compile(r"^from\s+([\w.]+)\s+(?:c?import)\s+(?:\(([^)]*)\)|([^\n]*))", re.M)


def bfloat16_loops(n_in=1, out="E", code=None):
    """What CuPy's bf16_loop gives where there is bfloat16: the variant of n inputs."""
    types = "E" * n_in + "->" + out
    return (types,) if code is None else ((types, code),)


class Module:
    def __init__(self, root, path):
        self.root, self.path = root, path
        self.text = text = path.read_text(encoding="utf-8", errors="replace")
        self.places, self.others = {}, {}
        for match in IMPORT.finditer(text):
            for name in re.findall(r"\w+", (match.group(2) or match.group(3)).split("#")[0]):
                self.others.setdefault(name, match.group(1))
        for match in ASSIGNMENT.finditer(text):
            self.places.setdefault(match.group(1), []).append(match.end())
        self.at = 0  # of the call that is looked at: a name has its last value before that

    def value(self, name):
        if name not in self.places and name in self.others:
            path = (self.root / self.others[name].replace(".", "/")).with_suffix(".py")
            if path.exists() and path != self.path:
                other = Module(self.root, path)
                other.at = len(other.text)
                return other.value(name)
        if name not in self.places:
            raise NotLiteral(name)
        before = [place for place in self.places[name] if place < self.at]
        if not before:
            raise NotLiteral(name)
        call, self.at = self.at, before[-1] - 1  # what the value names is older than it
        try:
            return self.evaluate(self.parse(self.text[before[-1]:expression_end(self.text, before[-1], False)]))
        finally:
            self.at = call

    @staticmethod
    def parse(text):
        try:
            return ast.parse(text.strip(), mode="eval").body
        except SyntaxError as error:
            raise NotLiteral(str(error)) from None

    def evaluate(self, node):
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.value(node.id)
        if isinstance(node, (ast.Tuple, ast.List)):
            return tuple(value for e in node.elts
                         for value in (self.evaluate(e.value) if isinstance(e, ast.Starred) else (self.evaluate(e),)))
        if isinstance(node, ast.JoinedStr):
            return "".join(str(self.evaluate(v.value if isinstance(v, ast.FormattedValue) else v)) for v in node.values)
        if isinstance(node, ast.Dict):
            return {self.evaluate(k): self.evaluate(v) for k, v in zip(node.keys, node.values)}
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)):
            left, right = self.evaluate(node.left), self.evaluate(node.right)
            return left + right if isinstance(node.op, ast.Add) else left % right
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            return -self.evaluate(node.operand)
        if isinstance(node, ast.Call):
            return self.call(node)
        raise NotLiteral(ast.dump(node)[:60])

    def call(self, node):
        """What is done with texts where kernels are defined."""
        arguments = [self.evaluate(a) for a in node.args]
        named = {k.arg: self.evaluate(k.value) for k in node.keywords}
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "strip", "join", "replace"):
            return getattr(self.evaluate(node.func.value), node.func.attr)(*arguments, **named)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "dedent":
            return textwrap.dedent(*arguments)
        if isinstance(node.func, ast.Name) and node.func.id == "bf16_loop":
            return bfloat16_loops(*arguments, **named)
        raise NotLiteral(ast.dump(node.func)[:60])


def take_call(module, match):
    """The arguments of a call by their names."""
    kind, module.at = match.group(1), match.start()
    end = expression_end(module.text, match.end(), True)
    call = module.parse("f(" + module.text[match.end():end])
    names = CALLS[kind]
    if not isinstance(call, ast.Call) or len(call.args) > len(names):
        raise NotLiteral("a declaration")
    arguments = {name: module.evaluate(node) for name, node in zip(names, call.args)}
    arguments.update({k.arg: module.evaluate(k.value) for k in call.keywords if k.arg not in ("doc", "cutensor_op", "scatter_op", "default_casting")})
    return arguments


def kernels(root):
    """Yields (kind, place, arguments) of each call; arguments is None where they are computed."""
    for folder in ("cupy", "cupyx"):
        for path in sorted((pathlib.Path(root) / folder).rglob("*")):
            if path.suffix not in (".py", ".pyx", ".pxi") or not path.is_file():
                continue
            module = Module(pathlib.Path(root), path)
            text = module.text
            for match in CALL.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                begin = text.rfind("\n", 0, match.start()) + 1
                if re.match(r"\s*(#|>>>|\.\.\.|(cpdef|cdef|def|class)\s[^=]*$)", text[begin:match.start()]):
                    continue
                place = f"{path.relative_to(root)}:{line}"
                try:
                    yield match.group(1), place, take_call(module, match)
                except (NotLiteral, TypeError, IndexError, KeyError, ValueError, AttributeError):
                    yield match.group(1), place, None
