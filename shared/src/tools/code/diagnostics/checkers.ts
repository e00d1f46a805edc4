/**
 * Runs in the sandbox, in a folder that contains only the file "$1"; prints a line for each
 * problem, and nothing when its program is absent.
 */
type Checker = { readonly extensions: readonly string[]; readonly script: string };

const python = `import ast, sys, warnings
warnings.simplefilter("ignore")
try: ast.parse(open(sys.argv[1], "rb").read(), sys.argv[1])
except SyntaxError as e: print("%s:%s:%s: %s" % (sys.argv[1], e.lineno, e.offset, e.msg))
except ValueError as e: print("%s: %s" % (sys.argv[1], e))`;

const ruff = 'ruff check --isolated --no-cache --quiet --output-format=concise --select=E9,F -- "$1"';

/** Languages whose checker is a program of the system, by file extension. */
export const checkers: readonly Checker[] = [
  {
    extensions: [".py", ".pyi"],
    script: `if command -v ruff >/dev/null; then ${ruff}; else python3 -c '${python}' "$1"; fi`,
  },
  { extensions: [".sh", ".bash"], script: 'bash -n -- "$1"' },
  { extensions: [".go"], script: '! command -v gofmt >/dev/null || gofmt -e -- "$1" >/dev/null' },
  {
    extensions: [".rs"],
    script:
      '! command -v rustfmt >/dev/null || rustfmt --check --edition 2021 --config-path /dev/null -- "$1" >/dev/null',
  },
  { extensions: [".rb"], script: '! command -v ruby >/dev/null || ruby -c -- "$1" >/dev/null' },
  { extensions: [".php"], script: '! command -v php >/dev/null || php -n -l -- "$1" >/dev/null' },
];

/** Extensions that this runtime checks itself, in a separate process. */
export const ownExtensions: ReadonlySet<string> = new Set([
  ".cjs",
  ".cts",
  ".js",
  ".json",
  ".jsonc",
  ".jsx",
  ".mjs",
  ".mts",
  ".toml",
  ".ts",
  ".tsx",
  ".yaml",
  ".yml",
]);
