/** The families of tools an agent can be given by `[agents.NAME] tools`. What is in each says `server/tool-families.ts`. */
export const toolFamilyNames = [
  "planning",
  "shell",
  "python",
  "files",
  "web",
  "data",
  "code",
  "human",
  "delegate",
  "desktop",
  "browser",
] as const;

/** One of them. */
export type ToolFamily = (typeof toolFamilyNames)[number];
