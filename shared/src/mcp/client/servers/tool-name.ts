import { sha256Of } from "../../../core/text/sha256.ts";

/** Most characters that providers accept in a tool's name. */
const longest = 64;

/**
 * A server's name as a prefix of tool names: letters, digits, `_` and `-`, never two underscores in
 * a row, so that the first `__` of a tool's name ends the prefix.
 */
export function serverId(server: string): string {
  return server
    .replace(/[^A-Za-z0-9_-]+/g, "_")
    .replace(/_+/g, "_")
    .replace(/^[_-]+|(?<!_)_+$/g, "");
}

/**
 * `server__tool`. If that is too long or has characters that providers do not accept, the server's
 * part is shortened, never the tool's, and a hash of both is appended. A tool name of more than 55
 * characters leaves no room for the hash and loses its end.
 */
export function mountedName(server: string, tool: string): string {
  const id = serverId(server);
  const own = tool.replace(/[^A-Za-z0-9_-]/g, "_");
  const plain = `${id}__${own}`;
  if (own === tool && plain.length <= longest && tool !== "") return plain;
  const hash = sha256Of(JSON.stringify([server, tool])).slice(0, 6);
  const room = longest - own.length - "__".length - 1 - hash.length;
  const front = room > 0 ? `${id.slice(0, room).replace(/(?<!_)_+$/, "")}__` : "";
  return `${front}${own.slice(0, longest - front.length - 1 - hash.length)}_${hash}`;
}

/** Whether a name has the form of a mounted tool's. */
export function isMountedName(name: string): boolean {
  return name.includes("__");
}
