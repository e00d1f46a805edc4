import { SendMessageRequest, type Task } from "@a2a-js/sdk";
import { ClientFactory } from "@a2a-js/sdk/client";
import type { Task as TaskOf03 } from "a2a-sdk-v0";
import { A2AClient } from "a2a-sdk-v0/client";

type Files = Readonly<Record<string, string | Uint8Array>>;

/**
 * The task that a text and files, or links to them, sent by the SDK's client, become, once it has
 * ended or asks something.
 */
export async function sendBySdk(
  url: string,
  text: string,
  files: Readonly<Record<string, string | Uint8Array | URL>> = {},
  { contextId = "", taskId = "" }: { readonly contextId?: string; readonly taskId?: string } = {},
): Promise<Task> {
  const client = await new ClientFactory().createFromUrl(url);
  const sent = Object.entries(files).map(([filename, content]) =>
    content instanceof URL ? { url: content.href, filename } : { raw: base64(content), filename },
  );
  const message = { messageId: crypto.randomUUID(), contextId, taskId, role: "ROLE_USER", parts: [{ text }, ...sent] };
  return (await client.sendMessage(SendMessageRequest.fromJSON({ message }))) as Task;
}

/**
 * Like `sendBySdk`, with the client of A2A 0.3 that the card at the old address serves. Throws the
 * server's answer if it is not a task.
 */
export async function sendByOldSdk(url: string, text: string, files: Files = {}): Promise<TaskOf03> {
  const client = await A2AClient.fromCardUrl(`${url}/.well-known/agent.json`);
  const sent = Object.entries(files).map(([name, content]) => ({
    kind: "file" as const,
    file: { bytes: base64(content), name },
  }));
  const response = await client.sendMessage({
    message: {
      kind: "message",
      messageId: crypto.randomUUID(),
      role: "user",
      parts: [{ kind: "text", text }, ...sent],
    },
  });
  if ("error" in response) throw new Error(response.error.message);
  return response.result as TaskOf03;
}

/**
 * The content of a task's artifact: its text, or the bytes behind its address. Empty if there is
 * none of that name.
 */
export async function artifactBytes({ artifacts }: Pick<Task, "artifacts">, name: string): Promise<Buffer> {
  const content = artifacts.find((artifact) => artifact.name === name)?.parts[0]?.content;
  if (content?.$case === "text") return Buffer.from(content.value);
  return Buffer.from(content?.$case === "url" ? await (await fetch(content.value)).bytes() : []);
}

/** The same for a task of A2A 0.3. */
export async function oldArtifactText({ artifacts = [] }: TaskOf03, name: string): Promise<string> {
  const [part] = artifacts.find((artifact) => artifact.name === name)?.parts ?? [];
  return part?.kind === "file" && "uri" in part.file ? await (await fetch(part.file.uri)).text() : "";
}

function base64(content: string | Uint8Array): string {
  return Buffer.from(content).toString("base64");
}
