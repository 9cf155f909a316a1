"""The loops that one would write with Numba for a text of bench/speed_cases.py: rows where elements of a result lie side by side, with all of a row's
passes inside the loop over rows; else results side by side, a pass over everything for each reduction. Unsupported: there are no such loops."""
import ast
import math

import numpy as np

FUNCTIONS = {"exp": "np.exp", "log": "np.log", "log1p": "np.log1p", "sqrt": "np.sqrt", "tanh": "np.tanh", "sin": "np.sin", "cos": "np.cos", "abs": "abs",
             "conj": "np.conj"}
FOLDS = {"sum", "mean", "max", "min", "var", "std", "any", "all", "argmax", "argmin"}
TYPES = {"float32", "float64", "int8", "int16", "int32", "int64", "uint8"}


class Unsupported(Exception):
    pass


class Value:
    """at(indices): the text of an element; constant: a number that takes the dtype of what it meets."""

    def __init__(self, shape, dtype, at, constant=None):
        self.shape, self.dtype, self.at, self.constant = tuple(shape), dtype, at, constant


def seen(value, indices, shape):
    """An element of what broadcasts to that shape."""
    own = indices[len(indices) - len(value.shape):]
    return value.at(["0" if n == 1 and m != 1 else i for i, n, m in zip(own, value.shape, shape[len(shape) - len(value.shape):])])


class Loops:
    def __init__(self, text, arrays):
        self.arrays, self.names, self.globals, self.folds = arrays, {}, {"np": np}, []
        for name, a in arrays.items():
            if a.dtype == np.float16:
                raise Unsupported("float16")
            self.names[name] = Value(a.shape, a.dtype, lambda i, n=name: f"{n}[{', '.join(i)}]")
        *statements, last = ast.parse(text.replace("; ", "\n")).body
        for s in statements:
            self.names[s.targets[0].id] = self.value(s.value)
        self.result = self.value(last.value)

    # ---- an expression ----

    def number(self, constant, dtype):
        """A number of that dtype: float32's is none of Numba's own."""
        if dtype != np.float32:
            return repr(constant)
        name = f"number_{len(self.globals)}"
        self.globals[name] = np.float32(constant)
        return name

    def mixed(self, make, *values):
        """An element of several values, numbers among them in the dtype of the others."""
        arrays = [v for v in values if v.constant is None]
        dtype = np.result_type(*[v.dtype for v in arrays]) if arrays else np.dtype("f8")
        if any(isinstance(v.constant, float) for v in values) and dtype.kind in "iub":
            dtype = np.dtype("f8")
        shape = np.broadcast_shapes(*[v.shape for v in values])
        fixed = [self.number(v.constant, dtype) if v.constant is not None else None for v in values]
        return Value(shape, dtype, lambda i: make(*[f or seen(v, i, shape) for f, v in zip(fixed, values)]))

    def value(self, node):
        way = getattr(self, type(node).__name__, None)
        if way is None:
            raise Unsupported(type(node).__name__)
        return way(node)

    def Name(self, node):
        if node.id not in self.names:
            raise Unsupported(node.id)
        return self.names[node.id]

    def Constant(self, node):
        return Value((), np.dtype("f8"), lambda i: repr(node.value), node.value)

    def UnaryOp(self, node):
        v = self.value(node.operand)
        if v.constant is not None:
            return Value((), v.dtype, v.at, -v.constant)
        return Value(v.shape, v.dtype, lambda i: f"(-{v.at(i)})")

    def BinOp(self, node):
        a, b = self.value(node.left), self.value(node.right)
        sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.RShift: ">>"}.get(type(node.op))
        if isinstance(node.op, ast.Pow) and b.constant == 2:
            return Value(a.shape, a.dtype, lambda i: f"({a.at(i)} * {a.at(i)})")
        if sign is None:
            raise Unsupported(ast.dump(node.op))
        v = self.mixed(lambda x, y: f"({x} {sign} {y})", a, b)
        if sign == "/" and v.dtype.kind in "iub":
            v.dtype = np.dtype("f8")
        return v

    def Compare(self, node):
        sign = {ast.Lt: "<", ast.Gt: ">", ast.GtE: ">=", ast.LtE: "<="}[type(node.ops[0])]
        v = self.mixed(lambda x, y: f"({x} {sign} {y})", self.value(node.left), self.value(node.comparators[0]))
        v.dtype = np.dtype("?")
        return v

    def Attribute(self, node):
        if node.attr != "T":
            raise Unsupported(node.attr)
        v = self.value(node.value)
        return Value(v.shape[::-1], v.dtype, lambda i: v.at(i[::-1]))

    def Subscript(self, node):
        v = self.value(node.value)
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        given = sum(not (isinstance(s, ast.Constant) and s.value in (None, Ellipsis)) for s in items)
        full = []
        for s in items:
            full += [ast.Slice()] * (len(v.shape) - given) if isinstance(s, ast.Constant) and s.value is Ellipsis else [s]
        full += [ast.Slice()] * (len(v.shape) - sum(not (isinstance(s, ast.Constant) and s.value is None) for s in full))
        shape, places, axis = [], [], 0
        for s in full:
            if isinstance(s, ast.Slice):
                ends = [None if e is None else ast.literal_eval(e) for e in (s.lower, s.upper, s.step)]
                run = range(*slice(*ends).indices(v.shape[axis]))
                places.append((len(shape), run.start, run.step))
                shape.append(len(run))
                axis += 1
            elif isinstance(s, ast.Constant) and s.value is None:
                shape.append(1)
            else:
                places.append((None, ast.literal_eval(s) % v.shape[axis], 0))
                axis += 1
        place = lambda i, to, start, step: str(start) if to is None else i[to] if (start, step) == (0, 1) else f"({i[to]} * {step} + {start})"  # noqa: E731
        return Value(shape, v.dtype, lambda i: v.at([place(i, *p) for p in places]))

    def cast(self, v, dtype):
        return Value(v.shape, np.dtype(dtype), lambda i: f"np.{dtype}({v.at(i)})")

    def Call(self, node):
        if isinstance(node.func, ast.Attribute):
            if node.func.attr != "astype" or node.args[0].id not in TYPES:
                raise Unsupported(node.func.attr)
            return self.cast(self.value(node.func.value), node.args[0].id)
        name, arguments = node.func.id, node.args
        if name in FOLDS:
            return self.fold(name, node)
        if name == "transpose":
            v, order = self.value(arguments[0]), ast.literal_eval(arguments[1])
            return Value([v.shape[a] for a in order], v.dtype, lambda i: v.at([i[order.index(a)] for a in range(len(order))]))
        values = [self.value(a) for a in arguments]
        if name == "where":
            v = self.mixed(lambda a, b: "", *values[1:])
            return Value(np.broadcast_shapes(*[x.shape for x in values]), v.dtype, self.mixed_where(values))
        if name in ("maximum", "minimum"):
            return self.mixed((lambda a, b: f"max({a}, {b})") if name == "maximum" else (lambda a, b: f"min({a}, {b})"), *values)
        if name == "clip":
            return self.mixed(lambda a, b, c: f"min(max({a}, {b}), {c})", *values)
        if name not in FUNCTIONS:
            raise Unsupported(name)
        v, dtype = values[0], values[0].dtype
        if name == "abs" and dtype.kind == "c":
            dtype = np.dtype("f4" if dtype == np.complex64 else "f8")
        return Value(v.shape, dtype, lambda i: f"{FUNCTIONS[name]}({v.at(i)})")

    def mixed_where(self, values):
        shape = np.broadcast_shapes(*[x.shape for x in values])
        dtype = np.result_type(*[v.dtype for v in values[1:] if v.constant is None])
        parts = [self.number(v.constant, dtype) if v.constant is not None else None for v in values]
        part = lambda k, i: parts[k] or seen(values[k], i, shape)  # noqa: E731
        return lambda i: f"({part(1, i)} if {part(0, i)} else {part(2, i)})"

    # ---- reductions ----

    def fold(self, name, node):
        v, words = self.value(node.args[0]), {k.arg: ast.literal_eval(k.value) for k in node.keywords}
        axes = words.get("axis")
        axes = tuple(range(len(v.shape))) if axes is None else tuple(a % len(v.shape) for a in (axes if isinstance(axes, tuple) else (axes,)))
        dtype = {"any": "?", "all": "?", "argmax": "i8", "argmin": "i8"}.get(name, v.dtype)
        if name == "sum" and v.dtype.kind in "bi":
            dtype = "i8"
        elif name == "sum" and v.dtype.kind == "u":
            dtype = "u8"
        elif name in ("mean", "var", "std") and v.dtype.kind in "iub":
            dtype = "f8"
        if name in ("var", "std"):
            mean = self.keep("mean", v, axes, np.dtype(dtype))
            off = self.mixed(lambda a, b: f"({a} - {b}) * ({a} - {b})", v, mean)
            out = self.keep("mean", off, axes, np.dtype(dtype))
            if name == "std":
                inner = out
                out = Value(inner.shape, inner.dtype, lambda i: f"np.sqrt({inner.at(i)})")
        else:
            out = self.keep(name, v, axes, np.dtype(dtype))
        if words.get("keepdims"):
            return out
        kept = [a for a in range(len(v.shape)) if a not in axes]
        spread = lambda i: [i[kept.index(a)] if a in kept else "0" for a in range(len(v.shape))]  # noqa: E731
        return Value([v.shape[a] for a in kept], out.dtype, lambda i: out.at(spread(i)))

    def keep(self, name, v, axes, dtype):
        first = self.folds[0] if self.folds else None
        if first and (first["value"].shape != v.shape or first["axes"] != axes):
            raise Unsupported("reductions of several kinds")
        k = len(self.folds)
        self.folds.append({"name": name, "value": v, "axes": axes, "dtype": dtype})
        shape = [1 if a in axes else n for a, n in enumerate(v.shape)]
        return Value(shape, dtype, lambda i: f"fold_{k}" if self.by_rows else f"fold_{k}[{', '.join(i)}]")

    def first(self, f):
        if f["name"] in ("max", "min"):
            least = f["name"] == "max"
            edge = (np.finfo if f["dtype"].kind == "f" else np.iinfo)(f["dtype"])
            return repr(float(edge.min if least else edge.max)) if f["dtype"].kind == "f" else str(int(edge.min if least else edge.max))
        return {"all": "True", "any": "False"}.get(f["name"], "0")

    def step(self, f, to, element, where):
        if f["name"] in ("sum", "mean"):
            return [f"{to} += {element}"]
        if f["name"] in ("argmax", "argmin"):
            sign = ">" if f["name"] == "argmax" else "<"
            return [f"v = {element}", f"if {where} == 0 or v {sign} {to.replace('fold', 'best')}:", f"    {to.replace('fold', 'best')} = v", f"    {to} = {where}"]
        if f["name"] in ("max", "min"):
            return [f"v = {element}", f"if v {'>' if f['name'] == 'max' else '<'} {to}:", f"    {to} = v"]
        return [f"if {'not ' if f['name'] == 'all' else ''}{element}:", f"    {to} = {f['name'] == 'any'}"]

    # ---- loops ----

    def source(self, out_shape):
        lines, depth = [], 0

        def put(text, more=0):
            lines.append("    " * (depth + 1 + more) + text)

        def loops(axes, shape):
            for k, a in enumerate(axes):
                put(f"for i{a} in range({shape[a]}):", k)
            return len(axes)
        space = self.folds[0]["value"].shape if self.folds else self.result.shape
        every = max(self.arrays.values(), key=lambda a: a.size)
        order = sorted(range(len(space)), key=lambda a: -abs(every.strides[a]) if every.ndim == len(space) else a)
        index = [f"i{a}" for a in range(len(space))]
        axes = self.folds[0]["axes"] if self.folds else ()
        kept = [a for a in order if a not in axes]
        count = math.prod(space[a] for a in axes)
        at_kept = ["0" if a in axes else i for a, i in enumerate(index)]
        is_map = self.result.shape == space
        if self.folds and not is_map and self.result.shape not in (tuple(1 if a in axes else n for a, n in enumerate(space)),
                                                                 tuple(n for a, n in enumerate(space) if a not in axes)):
            raise Unsupported("a result of another shape")
        self.by_rows = not self.folds or order[-1] in axes
        reduced = [a for a in order if a in axes]
        own = index if is_map else at_kept if len(self.result.shape) == len(space) else [index[a] for a in range(len(space)) if a not in axes]
        store = f"out[{', '.join(own) or '()'}] = {{}}"
        if not self.folds:
            put(store.format(self.result.at(index)), loops(order, space))
            return lines
        where = " + ".join(f"i{a} * {math.prod(space[b] for b in axes if b > a)}" for a in axes)
        if self.by_rows:
            depth = loops(kept, space)
            for k, f in enumerate(self.folds):
                if f["name"].startswith("arg"):
                    put(f"best_{k} = {f['value'].at(at_kept)}")
                typed = "np.bool_" if f["dtype"].kind == "b" else f"np.{f['dtype'].name}"
                put(f"fold_{k} = {typed}({self.first(f)})")
                deep = loops(reduced, space)
                for line in self.step(f, f"fold_{k}", f["value"].at(index), where):
                    put(line, deep)
                if f["name"] == "mean":
                    put(f"fold_{k} = fold_{k} / {self.number(float(count), f['dtype'])}")
            if is_map:
                put(store.format(self.result.at(index)), loops(reduced, space))
            else:
                put(store.format(self.result.at(own)))
            return lines
        shape = tuple(1 if a in axes else n for a, n in enumerate(space))
        for k, f in enumerate(self.folds):
            put(f"fold_{k} = np.full({shape}, {self.first(f)}, np.{'bool_' if f['dtype'].kind == 'b' else f['dtype'].name})")
            if f["name"].startswith("arg"):
                put(f"best_{k} = np.zeros({shape}, np.{f['value'].dtype.name})")
            deep = loops(order, space)
            for line in self.step(f, f"fold_{k}[{', '.join(at_kept)}]", f["value"].at(index), where):
                put(line, deep)
            if f["name"] == "mean":
                put(f"fold_{k} /= {count}")
        put(store.format(self.result.at(index if is_map else own)), loops(order if is_map else kept, space))
        return lines

    def compiled(self, njit, out_shape):
        names = list(self.arrays)
        text = f"def loops({', '.join(names)}, out):\n" + "\n".join(self.source(out_shape)) + "\n"
        space = dict(self.globals)
        exec(compile(text, "loops", "exec"), space)
        return njit(space["loops"]), text
