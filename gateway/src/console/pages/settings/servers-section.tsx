import { useEffect, useState } from "preact/hooks";
import { post, remove } from "../../api/client.ts";
import { Banner } from "../../parts/banner.tsx";
import { Button } from "../../parts/button.tsx";
import { FormDialog } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { TextField } from "../../parts/text-field.tsx";
import { complain, toast } from "../../parts/toast.tsx";
import { safeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { OperatorOnly } from "./operator-only.tsx";
import { type Inspected, ServerTools } from "./server-tools.tsx";
import { useLoaded } from "./use-loaded.ts";

type Server = {
  readonly name: string;
  readonly kind: "program" | "http" | "sse";
  readonly command: string;
  readonly enabled: boolean;
  readonly sandboxed?: boolean;
  readonly agents: readonly string[];
  readonly signIn?: { readonly state: "waiting" | "done" | "failed"; readonly error?: string };
};
type Servers = { readonly servers: readonly Server[] };

const pollMs = 2_000;
const base = "/settings/mcp-servers";
const pathOf = (name: string) => `${base}/${encodeURIComponent(name)}`;

/** The MCP servers: add, try, enable, sign in, approve, remove. */
export function ServersSection() {
  const text = words().system;
  const loaded = useLoaded<Servers>(base);
  const [adds, setAdds] = useState(false);
  const servers = loaded.value?.servers ?? [];
  const isWaiting = servers.some(({ signIn }) => signIn?.state === "waiting");
  useEffect(() => {
    if (!isWaiting) return;
    const again = setInterval(() => void loaded.reload(), pollMs);
    return () => clearInterval(again);
  }, [isWaiting, loaded.reload]);
  return (
    <>
      <div class="row">
        <h2 class="grow">{text.servers}</h2>
        <Button icon="plus" onClick={() => setAdds(true)}>
          {text.addServer}
        </Button>
      </div>
      <p>{text.serversNote}</p>
      <OperatorOnly of={loaded}>
        {servers.length === 0 && <Empty title={text.noServers}>{text.noServersMore}</Empty>}
        {servers.length > 0 && (
          <ul class="list">
            {servers.map((server) => (
              <ServerEntry key={server.name} server={server} changed={loaded.reload} />
            ))}
          </ul>
        )}
      </OperatorOnly>
      {adds && <AddServer added={() => void loaded.reload()} close={() => setAdds(false)} />}
    </>
  );
}

function ServerEntry({ server, changed }: { server: Server; changed: () => Promise<void> }) {
  const text = words().system;
  const { name, kind, command, enabled, sandboxed, agents, signIn } = server;
  const [busy, setBusy] = useState(false);
  const [inspected, setInspected] = useState<Inspected | undefined>(undefined);
  const [address, setAddress] = useState<string | undefined>(undefined);
  const act = async (work: () => Promise<void>) => {
    setBusy(true);
    await work().catch(complain);
    setBusy(false);
  };
  const test = () => act(async () => setInspected(await post<Inspected>(`${pathOf(name)}/test`, {})));
  const enable = (on: boolean) =>
    act(async () => {
      await post(`${pathOf(name)}/enable`, { enabled: on });
      await changed();
    });
  const drop = () =>
    act(async () => {
      await remove(pathOf(name));
      toast(text.removedServer(name));
      await changed();
    });
  const begin = () =>
    act(async () => {
      setAddress((await post<{ address: string }>(`${pathOf(name)}/sign-in`, {})).address);
      await changed();
    });
  const kindText = kind === "program" ? text.programKind[sandboxed ? "sandboxed" : "unconfined"] : kind;
  return (
    <li class="srv" data-server={name}>
      <div class="row wrap">
        <h3 class="nm">{safeText(name)}</h3>
        <span class="t3 small">{kindText}</span>
        <span class="grow" />
        <label class="check">
          <input
            type="checkbox"
            checked={enabled}
            disabled={busy}
            onChange={(event) => void enable(event.currentTarget.checked)}
          />
          {text.enabled}
        </label>
        <Button disabled={busy || !enabled} onClick={() => void test()} aria-label={`${text.check}: ${name}`}>
          {busy ? text.checking : text.check}
        </Button>
        <Button look="ghost" disabled={busy} onClick={() => void drop()} aria-label={`${words().remove}: ${name}`}>
          {words().remove}
        </Button>
      </div>
      <p class="small words">
        <code>{safeText(command)}</code>
      </p>
      <p class="t3 small">{agents.length === 0 ? text.usedByNone : text.usedBy(agents.join(", "))}</p>
      <div role="status">
        {inspected !== undefined && (
          <ServerTools
            inspected={inspected}
            approve={(seen) =>
              act(async () => {
                await post(`${pathOf(name)}/approve`, { seen });
                toast(text.approved);
                setInspected(await post<Inspected>(`${pathOf(name)}/test`, {}));
              })
            }
          />
        )}
        {inspected?.state === "sign-in-needed" && signIn?.state !== "done" && (
          <Button disabled={busy} onClick={() => void begin()}>
            {text.signIn}
          </Button>
        )}
        {signIn?.state === "waiting" && address !== undefined && (
          <p>
            <a class="btn primary" href={address} target="_blank" rel="noopener noreferrer">
              {text.openSignIn}
            </a>{" "}
            <span class="t3 small">{text.signInNote}</span>
          </p>
        )}
        {signIn?.state === "done" && <p class="s-ok">{text.signedIn}</p>}
        {signIn?.state === "failed" && <Banner tone="fail">{safeText(signIn.error ?? "")}</Banner>}
      </div>
    </li>
  );
}

function AddServer({ added, close }: { added: () => void; close: () => void }) {
  const text = words().system;
  const [name, setName] = useState("");
  const [where, setWhere] = useState("");
  const [pairs, setPairs] = useState("");
  const add = async () => {
    await post(base, { name: name.trim(), entry: entryOf(where, pairs) });
    added();
    close();
  };
  return (
    <FormDialog title={text.addServer} label={words().add} act={add} onClose={close}>
      <TextField id="server-name" label={text.serverName} value={name} required onValue={setName} />
      <TextField
        id="server-where"
        label={text.serverAddress}
        value={where}
        required
        placeholder="https://example.com/mcp"
        note={text.serverHint}
        onValue={setWhere}
      />
      <TextField id="server-pairs" label={text.serverVariables} value={pairs} rows={3} onValue={setPairs} />
    </FormDialog>
  );
}

/** The entry of `mcp.json` for what was typed: a URL, or a command with quoted words. */
function entryOf(where: string, pairs: string): object {
  const lines = pairs.split("\n").flatMap((line) => {
    const at = line.indexOf("=");
    return at <= 0 ? [] : [[line.slice(0, at).trim(), line.slice(at + 1).trim()] as const];
  });
  const values = lines.length === 0 ? undefined : Object.fromEntries(lines);
  if (/^https?:\/\//i.test(where.trim())) return { url: where.trim(), ...(values && { headers: values }) };
  const words = [...where.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, one, two, three]) => one ?? two ?? three ?? "",
  );
  const [command = "", ...args] = words;
  return { command, ...(args.length > 0 && { args }), ...(values && { env: values }) };
}
