/** What providers take as the name of a tool. */
const longest = 64;

/**
 * A server's name as tool names begin with it: letters, digits, `_` and `-`, never two underscores
 * in a row, so that the first `__` of a tool's name is where the server's ends.
 */
export function serverId(server: string): string {
  return server
    .replace(/[^A-Za-z0-9_-]+/g, "_")
    .replace(/_+/g, "_")
    .replace(/^[_-]+|_+$/g, "");
}

/**
 * `server__tool`. Where that is too long or not made of characters that providers take, the
 * server's part is shortened, never the tool's, and a hash of both is put behind; a name of more
 * than 55 characters leaves no room for that, and loses its end.
 */
export function mountedName(server: string, tool: string): string {
  const id = serverId(server);
  const own = tool.replace(/[^A-Za-z0-9_-]/g, "_");
  const plain = `${id}__${own}`;
  if (own === tool && plain.length <= longest && tool !== "") return plain;
  const hash = new Bun.CryptoHasher("sha256")
    .update(JSON.stringify([server, tool]))
    .digest("hex")
    .slice(0, 6);
  const room = longest - own.length - "__".length - 1 - hash.length;
  const front = room > 0 ? `${id.slice(0, room).replace(/_+$/, "")}__` : "";
  return `${front}${own.slice(0, longest - front.length - 1 - hash.length)}_${hash}`;
}

/** Whether a name has the form of a mounted tool's. */
export function isMountedName(name: string): boolean {
  return name.includes("__");
}
