import { expect, test } from "bun:test";
import { isProtected } from "./protected-names.ts";

test("files that would take effect outside the sandbox are protected, in any folder and case", () => {
  const paths = [
    ".git/hooks/pre-commit",
    "repo/.git/config",
    ".GIT/Hooks/post-checkout",
    "sub/.git",
    ".git/modules/m/hooks/x",
    ".bashrc",
    "home/.Profile",
    ".mcp.json",
    "manyhands.toml",
    "bunfig.toml",
    "app/.npmrc",
    ".yarnrc.yml",
    ".vscode/tasks.json",
    ".ssh/authorized_keys",
    "repo\\.git\\hooks\\x",
    ...[".bash_aliases", ".bash_login", ".bash_logout", ".bash_profile", ".bashrc", ".kshrc", ".profile"],
    ...[".cshrc", ".login", ".tcshrc", ".zlogin", ".zlogout", ".zprofile", ".zshenv", ".zshrc", ".envrc"],
    ...[".gitconfig", ".gitmodules", ".ripgreprc", ".npmrc", ".pnpmfile.cjs", ".yarnrc", ".yarnrc.yml"],
    ...["mcp.json", ".mcp.json", "manyhands.toml", "bunfig.toml"],
    ...[".claude", ".cursor", ".idea", ".ssh", ".vscode", ".git/hooks", ".git/modules"].map(
      (folder) => `a/${folder}/x`,
    ),
  ];
  expect(paths.filter((path) => !isProtected(path))).toEqual([]);
});

test("ordinary files are not protected, however similar their names", () => {
  const paths = [
    "a.txt",
    ".gitignore",
    ".github/workflows/ci.yml",
    "docs/bashrc",
    "hooks/use-state.ts",
    ".env.example",
    ".git-hooks/x",
  ];
  expect(paths.filter(isProtected)).toEqual([]);
});
