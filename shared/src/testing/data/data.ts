import { join } from "node:path";
import type { Tool, ToolContext, ToolResult } from "../../core/tools/tool.ts";
import type { Workspace } from "../../core/workspace.ts";
import { createDatabases, type Databases } from "../../tools/data/database/databases.ts";
import { workspaceForTest } from "../machine/workspace.ts";
import { contextForTest } from "../tool-context.ts";

/** A conversation with databases and files. For tests. */
export type DataScene = {
  readonly home: string;
  readonly workspace: Workspace;
  readonly databases: Databases;
  write(path: string, content: string | Uint8Array): Promise<void>;
  read(path: string): Promise<string>;
  exists(path: string): Promise<boolean>;
  call(tool: Tool, input: unknown, changes?: Partial<ToolContext>): Promise<ToolResult>;
} & AsyncDisposable;

/** Opens a workspace with databases for the data tools. */
export async function dataScene(): Promise<DataScene> {
  const scene = await workspaceForTest();
  const databases = createDatabases();
  const { workspace, home } = scene;
  const file = (path: string) => Bun.file(join(workspace.root, path));
  return {
    home,
    workspace,
    databases,
    write: async (path, content) => void (await Bun.write(file(path), content)),
    read: (path) => file(path).text(),
    exists: (path) => file(path).exists(),
    call: (tool, input, changes) => tool.call(input, contextForTest(workspace, changes)),
    async [Symbol.asyncDispose]() {
      await databases.close();
      await scene[Symbol.asyncDispose]();
    },
  };
}
