"""The kernels that a checkout of CuPy defines by texts: ElementwiseKernel, ReductionKernel, create_ufunc and create_reduction_func whose arguments are
literals, or names of the module's that are; or that a function of its gives which takes such, or one of FACTORIES: these functions alone are run, on
names of the checkout. None of its texts are kept here."""
import ast
import builtins
import importlib
import pathlib
import re
import textwrap
import types

CALLS = {  # the parameters, in CuPy's order
    "ElementwiseKernel": "in_params out_params operation name reduce_dims preamble no_return return_tuple loop_prep after_loop options".split(),
    "ReductionKernel": "in_params out_params map_expr reduce_expr post_map_expr identity name reduce_type reduce_dims preamble options".split(),
    "create_ufunc": "name ops routine preamble doc default_casting loop_prep out_ops".split(),
    "create_reduction_func": "name ops routine identity preamble".split(),
}
LEFT_OUT = ("doc", "cutensor_op", "scatter_op", "default_casting")
VERBOSE = False
CALL = re.compile(r"\b(%s)\(" % "|".join(CALLS))
ASSIGNMENT = re.compile(r"^(?:cdef\s+(?:\w+\s+)?)?(\w+)\s*=\s*(?!=)", re.M)
BRANCH = re.compile(r"^(?:if|elif|else)\b[^\n]*:\n(?:(?:[ \t][^\n]*)?\n)+", re.M)
ASSIGNMENT_WITHIN = re.compile(r"^    (\w+)\s*=\s*(?!=)", re.M)
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


def bfloat16_loops(in_types=1, out_types=1, code=None):
    """What CuPy's bf16_loop gives where there is bfloat16: a variant of so many inputs and outputs, or of these types (None: bfloat16)."""
    side = lambda given: "E" * given if isinstance(given, int) else "".join(letter or "E" for letter in given)
    return ((side(in_types) + "->" + side(out_types), code),)


LIBRARIES = ("string", "textwrap", "math", "re")
DTYPES = {name: (char, int(bits or 8) // 8) for char, name, bits in re.findall(
          r"(.):(\w+?(\d*))\b", "?:bool b:int8 h:int16 i:int32 l:int64 B:uint8 H:uint16 I:uint32 L:uint64 "
          "e:float16 f:float32 d:float64 F:complex64 D:complex128")}
ALIASES = {"double": "float64", "single": "float32", "float": "float64", "int": "int64", "bool_": "bool"}


class Dtype(str):
    """What functions ask of a dtype, its name."""
    char = property(lambda self: DTYPES[self][0])
    itemsize = property(lambda self: DTYPES[self][1])
    name = property(str)


def dtype_of(name):
    """What NumPy has under a name, of what these functions ask."""
    if name in ("dtype", "memoize"):
        return dtype_of
    if name in ("nan", "inf"):
        return float(name)
    name = ALIASES.get(name, name)
    if name not in DTYPES:
        raise NotLiteral(name)
    return Dtype(name)


class NumPy:
    def __getattr__(self, name):
        return dtype_of(name)



FACTORIES = {  # functions that modules call with what they compute, and arguments to call them with
    "_nonzero_kernel_incomplete_scan": {"block_size": 512},
    "_cupy_bsum_shfl": {"op": 0, "chunk_size": 512},
    "_cupy_bsum_smem": {"op": 0, "chunk_size": 512},
    "_cupy_scan_naive": {"op": 0, "chunk_size": 512},
    "_cupy_scan_btree": {"op": 1, "chunk_size": 512},
    "_create_astype_ufunc": {"dtype": Dtype("float32")},
    "_get_interp_kernel": {"is_complex": False},
    "_generate_nd_kernel": {"name": "max", "pre": "X value = x[i];", "found": "value = max({value}, value);", "post": "y = cast<Y>(value);",
                            "modes": ("reflect", "wrap"),
                            "w_shape": (3, 3), "int_type": "int", "offsets": (1, 1), "cval": 0},
    "_get_map_kernel": {"ndim": 2, "large_int": False, "mode": "constant", "order": 1},
    "_get_shift_kernel": {"ndim": 2, "large_int": False, "yshape": (5, 3), "mode": "mirror"},
    "_get_zoom_shift_kernel": {"ndim": 2, "large_int": False, "yshape": (5, 3), "mode": "nearest"},
    "_get_zoom_kernel": {"ndim": 2, "large_int": True, "yshape": (5, 3), "mode": "wrap"},
    "_get_affine_kernel": {"ndim": 2, "large_int": False, "yshape": (5, 3), "mode": "reflect", "order": 1},
    "get_bbox_coords_kernel": {"coord_dtype": "uint32", "ndim": 2},
    "_get_pack_kernel": {"int_type": "int"},
    "_get_distance_kernel": {"int_type": "int", "dist_int_type": "int"},
    "_get_aniso_distance_kernel": {"int_type": "int"},
    "_get_encode3d_kernel": {"size_max": 1024},
    "_get_decode3d_kernel": {"size_max": 1024},
    "_get_decode_as_distance_kernel": {"size_max": 1024},
    "cupy_binopt_csr_step1": {"op_name": "_maximum_", "preamble": ("_GET_ROW_ID_", "_BINOPT_MAX_")},
    "cupy_binopt_csr_step2": {"op_name": "_maximum_"},
    "_cupy_csr2dense": {"dtype": "float32"},
}
STAND_INS = {  # what is compiled in CuPy, and what asks the device
    "bf16_loop": bfloat16_loops,
    "runtime": types.SimpleNamespace(is_hip=False),
    "_is_hip": False,
    "scan_op": types.SimpleNamespace(SCAN_SUM=0, SCAN_PROD=1),
    "_full_mask_hex": lambda: "0xffffffff",
    "get_typename": str,  # kiln has the names of NumPy
    "_dtype_list": [Dtype(name) for name in DTYPES],
}


class Package:
    """What a module means by `cupy`, and by its parts: their kernels, their values, dtypes of NumPy's."""

    def __init__(self, root, folder):
        self.root, self.folder = root, folder

    def __getattr__(self, name):
        if name in CALLS:
            return recorder(name)
        for found in (self.folder / name, self.folder / f"{name}.py", self.folder / f"{name}.pyx"):
            if found.exists():
                return Package(self.root, found)
        if self.folder.suffix:
            return Module.of(self.root, self.folder).anything(name)
        return dtype_of(name)


class Recorded(Exception):
    """A kernel was defined, with these arguments."""


def recorder(kind):
    def record(*given, **named):
        raise Recorded(kind, dict(zip(CALLS[kind], given), **named))
    return record


class Names(dict):
    """The globals of a function that is run."""

    def __init__(self, module):
        super().__init__(__builtins__=__builtins__)
        self.module = module

    def __missing__(self, name):
        try:
            self[name] = self.module.anything(name)
        except NotLiteral:
            raise KeyError(name) from None
        return self[name]


class Module:
    known = {}

    @classmethod
    def of(cls, root, path):
        if path not in cls.known:
            cls.known[path] = cls(root, path)
        return cls.known[path]

    def __init__(self, root, path):
        self.root, self.path = root, path
        self.text = text = path.read_text(encoding="utf-8", errors="replace")
        self.places, self.others = {}, {}
        for match in IMPORT.finditer(text):
            for name in re.findall(r"\w+", (match.group(2) or match.group(3)).split("#")[0]):
                beside = ".".join(path.relative_to(root).parts[:-1]) if match.group(1).startswith(".") else ""
                self.others.setdefault(name, beside + match.group(1))
        for match in ASSIGNMENT.finditer(text):
            self.places.setdefault(match.group(1), []).append(match.end())
        for match in BRANCH.finditer(text):  # of `if` and `else` at the module's level the last is taken
            for one in ASSIGNMENT_WITHIN.finditer(text, match.start(), match.end()):
                self.places.setdefault(one.group(1), []).append(one.end())
        self.at = 0  # of the call that is looked at: a name has its last value before that

    def value(self, name):
        if name not in self.places and name in self.others:
            path = (self.root / self.others[name].replace(".", "/")).with_suffix(".py")
            if path.exists() and path != self.path:
                other = Module.of(self.root, path)
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

    def function(self, name):
        """A function of the module's, to be run."""
        match = re.search(rf"^(?:def|c?p?def(?:\s+\w+)?)\s+{name}\(", self.text, re.M)
        if not match:
            raise NotLiteral(name)
        end = re.compile(r"^(?![ \t)\n])", re.M).search(self.text, match.end())
        source = f"def {name}(" + self.text[match.end():end.start() if end else None]
        names = Names(self)
        try:
            exec(compile(source, str(self.path), "exec"), names)
        except SyntaxError as error:
            raise NotLiteral(str(error)) from None
        return names[name]

    def anything(self, name):
        """What a function of the module's finds under a name."""
        if name in CALLS:
            return recorder(name)
        if name in STAND_INS:
            return STAND_INS[name]
        if name in ("cupy", "cupyx"):
            return Package(self.root, self.root / name)
        if name in LIBRARIES:
            return importlib.import_module(name)
        if name in ("numpy", "np"):
            return NumPy()
        if re.search(rf"^(?:def|c?p?def(?:\s+\w+)?)\s+{name}\(", self.text, re.M):
            return self.function(name)
        if name in self.places:
            before, self.at = self.at, len(self.text)
            try:
                return self.value(name)
            finally:
                self.at = before
        if name in self.others:
            folder = self.root / self.others[name].replace(".", "/")
            return getattr(Package(self.root, next((f for f in (folder, folder.with_suffix(".py"), folder.with_suffix(".pyx")) if f.exists()), folder)), name)
        raise NotLiteral(name)

    @staticmethod
    def parse(text):
        text = re.sub(r"\\\n", " ", text, count=1) if text.lstrip(" ").startswith("\\\n") else text
        try:
            return ast.parse(text.strip(), mode="eval").body
        except SyntaxError as error:
            raise NotLiteral(str(error)) from None

    def evaluate(self, node):
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return self.value(node.id) if node.id in self.places else self.anything(node.id)
        if isinstance(node, (ast.Lambda, ast.ListComp)):
            return eval(compile(ast.Expression(node), str(self.path), "eval"), Names(self))
        if isinstance(node, ast.Attribute):
            return getattr(self.evaluate(node.value), node.attr)
        if isinstance(node, ast.IfExp):
            return self.evaluate(node.body if self.evaluate(node.test) else node.orelse)
        if isinstance(node, ast.Subscript):
            return self.evaluate(node.value)[self.evaluate(node.slice)]
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
        if isinstance(node.func, ast.Name) and node.func.id in ("tuple", "list", "len", "range", "str"):
            return getattr(builtins, node.func.id)(*arguments)
        return self.evaluate(node.func)(*arguments, **named)


def take_call(module, match):
    """The arguments of a call by their names."""
    kind, module.at = match.group(1), match.start()
    end = expression_end(module.text, match.end(), True)
    call = module.parse("f(" + module.text[match.end():end])
    names = CALLS[kind]
    if not isinstance(call, ast.Call) or len(call.args) > len(names):
        raise NotLiteral("a declaration")
    arguments = {name: module.evaluate(node) for name, node in zip(names, call.args)}
    arguments.update({k.arg: module.evaluate(k.value) for k in call.keywords if k.arg not in LEFT_OUT})
    return arguments


def modules(root):
    for folder in ("cupy", "cupyx"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".py", ".pyx", ".pxi") and path.is_file():
                yield Module.of(root, path)


DEFINITION = re.compile(r"^(?:def|c?p?def(?:\s+\w+)?)\s+(\w+)\(", re.M)


def enclosing_function(text, at):
    """The function at the module's level in which a place lies; None: it is at that level itself."""
    begin = text.rfind("\n", 0, at) + 1
    last = None
    for match in DEFINITION.finditer(text, 0, at):
        last = match
    return last.group(1) if last and (text[begin] in " \t") and not re.search(r"^\w", text[text.index("\n", last.start()):begin], re.M) else None


def place_of(module, at):
    return f"{module.path.relative_to(module.root)}:{module.text.count(chr(10), 0, at) + 1}"


def uses_of(root, name):
    """(module, where, arguments) of the calls of a function by which modules define what they have."""
    for module in modules(root):
        for match in re.finditer(rf"^(?:cdef\s+|cpdef\s+)?\w+\s*=\s*(?:\w+\.)*{name}\(", module.text, re.M):
            module.at = match.start()
            call = module.parse("f(" + module.text[match.end():expression_end(module.text, match.end(), True)])
            yield (module, match.start(), [module.evaluate(a) for a in call.args], {k.arg: module.evaluate(k.value) for k in call.keywords})


def of_factory(module, name, kind):
    """(place, arguments) of each kernel that a function defines."""
    uses = list(uses_of(module.root, name))
    if not uses and name in FACTORIES:
        uses = [(module, None, [], FACTORIES[name])]
    for user, at, given, named in uses:
        function = module.function(name)
        accepted = function.__code__.co_varnames[:function.__code__.co_argcount]
        try:
            named = {k: "".join(map(module.anything, v)) if k == "preamble" and isinstance(v, tuple) else v for k, v in named.items() if k in accepted}
            function(*given, **named)
        except Recorded as recorded:
            if recorded.args[0] == kind:
                yield user, at, {k: v for k, v in recorded.args[1].items() if k in CALLS[kind] and k not in LEFT_OUT}


UNUSABLE = (NotLiteral, TypeError, IndexError, KeyError, ValueError, AttributeError, NameError, SyntaxError)


def kernels(root):
    """Yields (kind, place, arguments) of each definition; arguments is None where they are computed."""
    for module in modules(pathlib.Path(root)):
        text = module.text
        for match in CALL.finditer(text):
            begin = text.rfind("\n", 0, match.start()) + 1
            if re.match(r"\s*(#|>>>|\.\.\.|(cpdef|cdef|def|class)\s[^=]*$)", text[begin:match.start()]):
                continue
            kind, place, function = match.group(1), place_of(module, match.start()), enclosing_function(text, match.start())
            try:
                yield kind, place, take_call(module, match)
                continue
            except UNUSABLE as error:
                why = error
            found = []
            try:
                found = list(of_factory(module, function, kind)) if function else []
            except UNUSABLE as error:
                why = error
            for user, at, arguments in found:
                yield kind, place if at is None else place_of(user, at), arguments
            if not found:
                if VERBOSE:
                    print("computed:", kind, place, function, repr(why)[:100])
                yield kind, place, None
