import { AppError } from "../../../core/errors.ts";
import { sanitizeLine } from "../../../core/text/sanitize.ts";
import type { EgressRequest } from "../../../machine/egress/fetch-within.ts";
import { packetsOf, packetText } from "../git/packets.ts";
import type { RemoteDeps } from "../git/upload-pack.ts";

/** A repository that takes pushes over https, by git's protocol. */
export interface PushableRepository {
  /** The commit that a branch is at; undefined if there is no such branch. */
  tip(branch: string): string | undefined;
  /**
   * Sets a branch from `before` to `commit` together with the objects in `pack`, or fails: the
   * server changes it only if it is still at `before`. Rejects with `rejected` and the server's
   * reason.
   */
  push(change: {
    readonly branch: string;
    readonly before: string | undefined;
    readonly commit: string;
    readonly pack: Uint8Array;
  }): Promise<void>;
}

const askMs = 30_000;
const pushMs = 300_000;
const maxAnswer = 5 * 1024 ** 2;
const agent = { "user-agent": "git/2.0 (manyhands)" };
const advertisement = "/info/refs?service=git-receive-pack";
const none = "0".repeat(40);

/**
 * Finds the repository at an address, with the token of exactly that host; redirects to other hosts
 * are not followed. Rejects with `unauthorized` when the server does not accept the token for a
 * push, and as `remoteRepository` does.
 */
export async function pushableRepository(
  address: string,
  { egress, hosts, signal }: RemoteDeps,
): Promise<PushableRepository> {
  const { origin } = new URL(address);
  const request: Omit<EgressRequest, "url"> = {
    headers: { ...agent, ...hosts.authorization(address) },
    signal,
    timeoutMs: askMs,
    maxBytes: maxAnswer,
    async admit(url) {
      hosts.admit(url);
      if (url.origin !== origin)
        throw new AppError("forbidden", `${origin} leads to ${url.origin}; nothing is pushed.`);
    },
  };
  const found = await egress.fetch({ ...request, url: `${address}${advertisement}` });
  if (found.status === 401 || found.status === 403)
    throw new AppError("unauthorized", `${address} does not accept pushes with the token of the settings.`);
  if (!found.headers["content-type"]?.startsWith("application/x-git-receive-pack-advertisement"))
    throw new AppError(
      "not_found",
      `There is no repository at ${address} that accepts pushes (status ${found.status}).`,
    );
  const { refs, capabilities } = advertised(found.body);
  if (!capabilities.includes("report-status"))
    throw new AppError("unsupported", `${address} does not say whether it took a push.`);
  // The host may have led to another repository of its own, which the token may not be for.
  const base = found.url.href.slice(0, -advertisement.length);
  const known = hosts.authorization(base);
  return {
    tip: (branch) => refs.get(`refs/heads/${branch}`),
    async push({ branch, before = none, commit, pack }) {
      const wanted = ["report-status", "ofs-delta"].filter((one) => capabilities.includes(one)).join(" ");
      const command = Buffer.from(`${before} ${commit} refs/heads/${branch}\0 ${wanted} agent=manyhands`);
      const head = `${(command.length + 4).toString(16).padStart(4, "0")}`;
      const body = new Uint8Array(Buffer.concat([Buffer.from(head), command, Buffer.from("0000"), pack]));
      const headers = {
        ...agent,
        ...known,
        "content-type": "application/x-git-receive-pack-request",
        accept: "application/x-git-receive-pack-result",
      };
      const url = `${base}/git-receive-pack`;
      const answer = await egress.fetch({ ...request, headers, body, timeoutMs: pushMs, url });
      if (answer.status !== 200)
        throw new AppError(
          answer.status === 401 || answer.status === 403 ? "unauthorized" : "unavailable",
          `${address} answered the push with status ${answer.status}.`,
        );
      checkReport(answer.body, branch);
    },
  };
}

function advertised(body: Uint8Array) {
  const refs = new Map<string, string>();
  let capabilities: readonly string[] = [];
  for (const packet of packetsOf(body)) {
    if (typeof packet === "string") continue;
    const whole = Buffer.from(packet).toString("utf8").replace(/\n$/, "");
    const [line = "", more] = whole.split("\0");
    if (more !== undefined) capabilities = more.trim().split(" ");
    const [, oid = "", name = ""] = /^([0-9a-f]{40}) (.+)$/.exec(line) ?? [];
    if (oid !== "") refs.set(name, oid);
  }
  return { refs, capabilities };
}

/** Without `side-band-64k`, the report is the whole answer. */
function checkReport(body: Uint8Array, branch: string): void {
  const lines = [...packetsOf(body)].flatMap((packet) => (typeof packet === "string" ? [] : [packetText(packet)]));
  const unpack = lines.find((line) => line.startsWith("unpack "));
  const ref = lines.find((line) => line.endsWith(` refs/heads/${branch}`) || line.includes(` refs/heads/${branch} `));
  if (unpack === "unpack ok" && ref === `ok refs/heads/${branch}`) return;
  const reasons = [unpack === "unpack ok" ? undefined : unpack, ref?.replace(`ng refs/heads/${branch} `, "")];
  const why = sanitizeLine(reasons.filter((one) => one !== undefined).join(", ") || "it did not say why", 300);
  throw new AppError("rejected", `The server did not accept the push: ${why}.`);
}
