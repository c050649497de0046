/* Names of the program in Python: kept where Python allows it. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "python/python_int.h"

/* Tables are sorted. What begins with '_' no program has: the generated file keeps such names for itself. */
/* clang-format off */
static const char *const keywords[] = {
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "self", "try", "while", "with", "yield",
};

/* In the module: what its own functions call. */
static const char *const builtins[] = {
    "ArithmeticError", "AssertionError", "AttributeError", "BaseException", "BaseExceptionGroup", "BlockingIOError",
    "BrokenPipeError", "BufferError", "BytesWarning", "ChildProcessError", "ConnectionAbortedError",
    "ConnectionError", "ConnectionRefusedError", "ConnectionResetError", "DeprecationWarning", "EOFError", "Ellipsis",
    "EncodingWarning", "EnvironmentError", "Error", "Exception", "ExceptionGroup", "Field", "FileExistsError",
    "FileNotFoundError", "FloatingPointError", "FutureWarning", "GeneratorExit", "IOError", "ImportError",
    "ImportWarning", "IndentationError", "IndexError", "InterruptedError", "IsADirectoryError", "KeyError",
    "KeyboardInterrupt", "LookupError", "MemoryError", "Module", "ModuleNotFoundError", "NameError",
    "NotADirectoryError", "NotImplemented", "NotImplementedError", "OSError", "OverflowError",
    "PendingDeprecationWarning", "PermissionError", "ProcessLookupError", "RecursionError", "ReferenceError",
    "ResourceWarning", "RuntimeError", "RuntimeWarning", "Session", "StopAsyncIteration", "StopIteration",
    "SyntaxError", "SyntaxWarning", "SystemError", "SystemExit", "TabError", "TimeoutError", "TypeError",
    "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError", "UnicodeTranslateError",
    "UnicodeWarning", "UserWarning", "ValueError", "Warning", "ZeroDivisionError", "abs", "aiter", "all", "anext",
    "any", "ascii", "bin", "bool", "breakpoint", "bytearray", "bytes", "callable", "chr", "classmethod", "compile",
    "complex", "copyright", "credits", "delattr", "dict", "dir", "divmod", "enumerate", "eval", "exec", "exit",
    "filter", "float", "format", "frozenset", "getattr", "globals", "hasattr", "hash", "help", "hex", "id", "input",
    "int", "isinstance", "issubclass", "iter", "jax", "len", "license", "list", "locals", "map", "max", "memoryview",
    "min", "next", "object", "oct", "open", "ord", "pow", "print", "property", "quit", "range", "repr", "reversed",
    "round", "set", "setattr", "slice", "sorted", "staticmethod", "str", "sum", "super", "torch", "tuple", "type",
    "vars", "zip",
};

/* Attributes of Module, of arguments of its creation, of Field. */
static const char *const attributes[] = {
    "clear_dual", "clear_grad", "close", "closed", "forward", "gradcheck", "params", "session", "tape",
};
static const char *const options[] = {
    "deterministic", "flush_denormals", "on_print", "options", "seed", "session", "threads",
};
static const char *const planes[] = {
    "clear_dual", "clear_grad", "data", "dual", "grad", "grad_dual",
};
/* clang-format on */

static int compare(const void *key, const void *word)
{
    return strcmp(key, *(const char *const *)word);
}

#define HAS(list, s) (bsearch((s), (list), sizeof(list) / sizeof *(list), sizeof *(list), compare) != NULL)

static bool is_reserved(py_scope scope, const char *name)
{
    if (HAS(keywords, name))
        return true;
    switch (scope) {
    case PY_MODULE:
        return HAS(builtins, name);
    case PY_CLASS:
        return HAS(attributes, name);
    case PY_CREATION:
        return HAS(options, name);
    case PY_MEMBER:
        return HAS(planes, name);
    case PY_ARGUMENT:
        return false;
    }
    return false;
}

static bool is_taken(const py_names *taken, const char *name)
{
    for (size_t i = 0; i < taken->len; i++)
        if (strcmp(taken->at[i], name) == 0)
            return true;
    return false;
}

const char *py_name(arena *mem, py_names *taken, py_scope scope, const char *name)
{
    while (is_reserved(scope, name) || is_taken(taken, name))
        name = arena_printf(mem, "%s_", name);
    vec_push(taken, name);
    return name;
}
