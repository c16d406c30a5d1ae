"""Reads declarations from C++ headers of this project's style, and the sentences that document them."""

import dataclasses
import itertools
import re

TOKEN = re.compile(r'(?P<doc>///(?!<)[^\n]*)|(?P<blank>\n[ \t]*\n)|(?P<skip>//[^\n]*|/\*.*?\*/|\s+)|'
                   r'(?P<code>"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*|\d[\w.\']*(?:e-\d+)?|::|->|\.\.\.|&&|\[\[|\]\]|.)', re.S)
SPECIFIERS = {"inline", "constexpr", "static", "virtual", "explicit", "extern", "mutable"}
CLOSING = {"(": ")", "[": "]", "{": "}", "[[": "]]"}


@dataclasses.dataclass
class Parameter:
    type: str
    name: str
    default: str | None = None


@dataclasses.dataclass
class Declaration:
    """A function, class, enum or member. `space` is what encloses it, as "heatpp::linalg" or "heatpp::KMeans"."""
    kind: str
    space: str
    name: str
    doc: list
    header: str = ""
    result: str = ""
    parameters: list = dataclasses.field(default_factory=list)
    words: set = dataclasses.field(default_factory=set)  # static, const, template, delete and the like
    members: list = dataclasses.field(default_factory=list)
    bases: list = dataclasses.field(default_factory=list)
    default: str | None = None

    @property
    def full(self):
        return f"{self.space}::{self.name}"


def first_sentence(comment):
    prose = itertools.takewhile(lambda line: not line.startswith("///    "), comment)  # up to code
    text = " ".join(line.strip().removeprefix("///").strip() for line in prose)
    return re.split(r"(?<=[^.]\.)(?<! al\.)\s", text, maxsplit=1)[0].rstrip(".:")


def joined(tokens):
    """Joins tokens to text, with blanks between words."""
    text = ""
    for token in tokens:
        if text and (text[-1].isalnum() or text[-1] in "_,&*>=+") and (token[0].isalnum() or token[0] in '_"{='):
            text += " "
        text += token
    return text


def closing(tokens, i):
    """Returns where the bracket at tokens[i] closes."""
    depth = 0
    for j in range(i, len(tokens)):
        if tokens[j] in CLOSING:
            depth += 1
        elif tokens[j] in CLOSING.values():
            depth -= 1
            if depth == 0:
                return j
    return len(tokens)


def outside(tokens, until=None):
    """Returns the tokens outside round and square brackets and braces, with the brackets."""
    found, i = [], 0
    while i < len(tokens) and (until is None or tokens[i] != until):
        found.append(tokens[i])
        i = closing(tokens, i) if tokens[i] in CLOSING else i + 1
    return found


def without_angles(tokens):
    found, i = [], 0
    while i < len(tokens):
        if tokens[i] == "<" and tokens[i - 1] != "operator":
            i = after_angles(tokens, i)
        else:
            found.append(tokens[i])
            i += 1
    return found


def after_angles(tokens, i):
    """Returns the place behind the angle bracket at tokens[i]."""
    depth = 0
    while i < len(tokens):
        depth += (tokens[i] == "<") - (tokens[i] == ">")
        i += 1
        if depth == 0:
            break
    return i


def split_list(tokens):
    """Splits at commas outside brackets; behind a =, < and > are no brackets."""
    parts, part, depth, value = [], [], 0, False
    for token in tokens:
        depth += (token in CLOSING or token == "<" and not value) - (token in CLOSING.values() or token == ">" and not value)
        if token == "," and depth == 0:
            parts.append(part)
            part, value = [], False
            continue
        value = value or token == "=" and depth == 0
        part.append(token)
    return parts + [part] if part else parts


def parameter(tokens):
    default = None
    if "=" in tokens:
        at = tokens.index("=")
        tokens, default = tokens[:at], joined(tokens[at + 1:])
    elif tokens and tokens[-1] == "}":  # axis{-2, -1}
        at = tokens.index("{")
        tokens, default = tokens[:at], joined(tokens[at:])
    named = len(tokens) > 1 and re.match(r"[A-Za-z_]\w*$", tokens[-1]) and tokens[-2] not in ("::", "const", "unsigned")
    return Parameter(joined(tokens[:-1] if named else tokens), tokens[-1] if named else "", default)


class Parser:
    def __init__(self, text, header=""):
        self.tokens, self.docs, self.header = [], {}, header
        comment, fresh = [], False
        for match in TOKEN.finditer(text):
            kind = match.lastgroup
            if kind == "doc":
                comment = comment + [match.group()] if fresh else [match.group()]
                fresh = True
            elif kind == "blank":
                comment = []
            elif kind == "code":
                self.docs[len(self.tokens)] = comment
                self.tokens.append(match.group())
                fresh = False

    def declarations(self):
        return list(self.scope(0, len(self.tokens), "", "public"))

    def scope(self, i, end, space, access):
        """Yields the public declarations in tokens[i:end]."""
        start = i
        while i < end:
            token, chunk = self.tokens[i], self.tokens[start:i]
            value = "=" in outside(without_angles(chunk)) and "operator" not in chunk
            if token == ":" and chunk and chunk[-1] in ("public", "private", "protected"):
                access, start = chunk[-1], i + 1
            elif token in ("(", "[", "[[") or token == "{" and value:
                i = closing(self.tokens, i)
            elif token == "{":
                stop = closing(self.tokens, i)
                if chunk[:1] == ["namespace"] or chunk[:2] == ["inline", "namespace"]:
                    inner = "::".join(filter(None, [space, joined(chunk[chunk.index("namespace") + 1:])]))
                    yield from self.scope(i + 1, stop, inner, "public")
                    start = stop + 1
                elif self.type_keyword(chunk):
                    if access == "public":
                        yield self.type(chunk, i, stop, space, self.docs[start])
                    start = stop + 1
                elif "(" in chunk or not chunk or chunk[0] in (",", "extern"):  # the body of a function
                    if access == "public" and "(" in chunk:
                        yield from self.function(chunk, space, self.docs[start])
                    start = stop + 1
                i = stop
            elif token == ";":
                if access == "public" and chunk:
                    yield from self.statement(chunk, space, self.docs[start])
                start = i + 1
            i += 1

    @staticmethod
    def type_keyword(chunk):
        i = 0
        while i < len(chunk) and chunk[i] == "template":
            i = after_angles(chunk, i + 1)
        if chunk[i:i + 1] == ["requires"]:  # of a class template
            i = next((j for j in range(i, len(chunk)) if chunk[j] in ("class", "struct")), i)
        return chunk[i] if i < len(chunk) and chunk[i] in ("class", "struct", "enum", "concept") and "(" not in chunk[:i + 3] else None

    def type(self, chunk, i, stop, space, doc):
        keyword = self.type_keyword(chunk)
        head = chunk[chunk.index(keyword, after_angles(chunk, 1) if chunk[0] == "template" else 0) + 1:]
        if keyword == "enum" and head[:1] == ["class"]:
            head = head[1:]
        bases = [joined([t for t in base if t not in ("public", "virtual")]) for base in split_list(head[head.index(":") + 1:])] if ":" in head else []
        found = Declaration(keyword, space, head[0], doc, self.header, bases=bases, words={"template"} & set(chunk))
        if keyword == "enum":
            found.members = [part[0] for part in split_list(self.tokens[i + 1:stop])]
        else:
            found.members = list(self.scope(i + 1, stop, found.full, "public" if keyword == "struct" else "private"))
        return found

    def statement(self, chunk, space, doc):
        if chunk[0] in ("friend", "typedef", "static_assert", "class", "struct", "enum", "namespace", "}"):
            return
        if chunk[0] == "template" and "concept" in chunk:
            return
        if chunk[0] == "using":
            if "=" in chunk:
                yield Declaration("using", space, chunk[1], doc, self.header, joined(chunk[3:]))
            else:
                yield Declaration("using", space, joined(chunk[1:]), doc, self.header)  # a name of another scope
            return
        head = chunk if chunk[0] == "template" else outside(chunk) if "operator" in chunk else outside(chunk, until="=")
        if "(" in head and (head[0] == "template" or "(" in without_angles(head)):
            yield from self.function(chunk, space, doc)
            return
        words = SPECIFIERS & set(chunk)
        first, *others = split_list([token for token in chunk if token not in SPECIFIERS])
        variable = parameter(first)
        yield Declaration("variable", space, variable.name, doc, self.header, variable.type, default=variable.default, words=words)
        for other in others:
            yield Declaration("variable", space, other[0], doc, self.header, variable.type,
                              default=joined(other[2:]) if len(other) > 1 else None, words=words)

    def function(self, chunk, space, doc):
        words, i = set(), 0
        while i < len(chunk):
            if chunk[i] == "template":
                words.add("template")
                i = after_angles(chunk, i + 1)
            elif chunk[i] == "requires":
                i += 1
                while chunk[i] not in ("[[", "DNDarray", "void", "bool") and chunk[i - 1:i] != [")"]:
                    i = closing(chunk, i) + 1 if chunk[i] == "(" else i + 1
                    if i >= len(chunk):
                        return
            elif chunk[i] == "[[":
                i = closing(chunk, i) + 1
            elif chunk[i] in SPECIFIERS | {"friend"}:
                words.add(chunk[i])
                i += 1
            else:
                break
        rest, at = chunk[i:], 0
        while at < len(rest) and rest[at] != "(":
            at = after_angles(rest, at) if rest[at] == "<" and rest[at - 1:at] != ["operator"] else at + 1
        if at in (0, len(rest)) or "friend" in words:
            return
        if "operator" in rest[:at]:
            begin = rest.index("operator")
            at = closing(rest, at) + 1 if rest[at:at + 2] == ["(", ")"] and at == begin + 1 else at
        else:
            begin = at - 1
        stop = closing(rest, at)
        name = "".join(rest[begin:at])
        result = joined(rest[:begin])
        if not re.match(r"~?[A-Za-z_]", name) or rest[begin - 1:begin] == ["~"]:
            return
        tail = rest[stop + 1:]
        words |= {"const", "delete"} & set(tail) | ({"&&"} if tail[:1] == ["&&"] or tail[:2] == ["const", "&&"] else set())
        parameters = [parameter(part) for part in split_list(rest[at + 1:stop])]
        if any("auto" in re.findall(r"\w+", p.type) for p in parameters):
            words.add("template")
        yield Declaration("function", space, name, doc, self.header, result, parameters, words)


def own_text(preprocessed, belongs):
    """Returns header -> its own text, from the output of `g++ -E -C` for all headers."""
    texts, current = {}, None
    for line in preprocessed.splitlines(keepends=True):
        marker = re.match(r'# \d+ "([^"]+)"', line)
        if marker:
            current = belongs(marker.group(1))
            if current:
                texts.setdefault(current, []).append("\n")
        elif current:
            texts[current].append(line)
    return {header: "".join(lines) for header, lines in texts.items()}
