import { extname } from "node:path";

/** The language servers of one language, in the order they are tried: each a shell command. */
export type CodeLanguage = { readonly id: string; readonly servers: readonly string[]; readonly install: string };

const scripts = {
  servers: [
    "typescript-language-server --stdio",
    // From TypeScript 7 on, the compiler is one itself.
    "tsc --lsp --stdio",
  ],
  install: "typescript-language-server, or TypeScript 7 or later in the project",
};

const languages: Readonly<Record<string, CodeLanguage>> = {
  ".ts": { id: "typescript", ...scripts },
  ".tsx": { id: "typescriptreact", ...scripts },
  ".js": { id: "javascript", ...scripts },
  ".jsx": { id: "javascriptreact", ...scripts },
  ".py": {
    id: "python",
    servers: ["pyright-langserver --stdio", "basedpyright-langserver --stdio", "pylsp"],
    install: "pyright",
  },
  ".go": { id: "go", servers: ["gopls"], install: "gopls" },
  ".rs": { id: "rust", servers: ["rust-analyzer"], install: "rust-analyzer" },
  ".c": { id: "c", servers: ["clangd"], install: "clangd" },
  ".cpp": { id: "cpp", servers: ["clangd"], install: "clangd" },
};

const same: Readonly<Record<string, string>> = {
  ".mts": ".ts",
  ".cts": ".ts",
  ".mjs": ".js",
  ".cjs": ".js",
  ".pyi": ".py",
  ".h": ".c",
  ".cc": ".cpp",
  ".hpp": ".cpp",
};

/** The language of a file by its name; undefined for those without a language server here. */
export function languageOf(path: string): CodeLanguage | undefined {
  const extension = extname(path).toLowerCase();
  return languages[same[extension] ?? extension];
}

/** The exit code when none of a language's servers is installed. */
export const noServer = 127;

/**
 * A script for the sandbox that becomes the first server that is installed, on the system or in the
 * project in folder `$1`.
 */
export function serverScript({ servers }: CodeLanguage): string {
  const tries = servers.map((command) => {
    const [program = ""] = command.split(" ");
    const fits = program === "tsc" ? ` && tsc --version 2> /dev/null | grep -qE 'Version ([7-9]|[1-9][0-9])'` : "";
    return `if command -v ${program} > /dev/null${fits}; then exec ${command}; fi`;
  });
  return [`cd -- "$1"`, `PATH="$PWD/node_modules/.bin:$PWD/.venv/bin:$PATH"`, ...tries, `exit ${noServer}`].join("\n");
}
