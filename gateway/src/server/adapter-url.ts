/** The A2A address of a flow or an agent. */
export function adapterUrl(publicUrl: string, name: string): string {
  return `${publicUrl.replace(/(?<!\/)\/+$/, "")}/a2a/${name}`;
}
