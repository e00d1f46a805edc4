const protectedNames = new Set([
  ".bash_aliases",
  ".bash_login",
  ".bash_logout",
  ".bash_profile",
  ".bashrc",
  ".cshrc",
  ".envrc",
  ".gitconfig",
  ".gitmodules",
  ".kshrc",
  ".login",
  ".mcp.json",
  ".npmrc",
  ".pnpmfile.cjs",
  ".profile",
  ".ripgreprc",
  ".tcshrc",
  ".yarnrc",
  ".yarnrc.yml",
  ".zlogin",
  ".zlogout",
  ".zprofile",
  ".zshenv",
  ".zshrc",
  "bunfig.toml",
  "manyhands.toml",
  "mcp.json",
]);

/** Everything inside these folders, wherever they are. */
const protectedFolders = [
  ".claude",
  ".cursor",
  ".idea",
  ".ssh",
  ".vscode",
  ".git/hooks",
  ".git/modules",
  ".git/config",
];

/**
 * Whether a path, relative to a workspace, names something that another program would run or obey
 * later, outside the sandbox: hooks, shell start-up files, settings of editors, agents, runtimes
 * and package managers that name code, our own configuration. Tools refuse to write there. Pass the
 * real path: the disk is not consulted. Case is ignored, because some disks ignore it.
 */
export function isProtected(relativePath: string): boolean {
  const path = relativePath.toLowerCase().replaceAll("\\", "/");
  const name = path.slice(path.lastIndexOf("/") + 1);
  // A file with this name redirects git to hooks elsewhere; only git may create the folder.
  if (protectedNames.has(name) || name === ".git") return true;
  return protectedFolders.some((folder) => `/${path}/`.includes(`/${folder}/`));
}
