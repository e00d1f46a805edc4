import { useState } from "preact/hooks";
import type { ListedAgent } from "../../api/catalog.ts";
import { post, remove } from "../../api/client.ts";
import { useTitle } from "../../attention/tab.ts";
import { Button } from "../../parts/button.tsx";
import { FormDialog } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { AgentGlyph } from "../../parts/icons/agent-glyph.tsx";
import { Glyph } from "../../parts/icons/glyph.tsx";
import { complain, toast } from "../../parts/toast.tsx";
import { address } from "../../state/router.ts";
import { agents, refreshAgents } from "../../state/store.ts";
import { ageText, modelText, safeText, timeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";

/** The known agents, their health and how their cards changed. */
export function AgentsPage() {
  const text = words();
  useTitle(text.agents);
  const [adds, setAdds] = useState(false);
  const known = agents.value;
  return (
    <>
      <header class="head">
        <h1>{text.agents}</h1>
        <span class="grow" />
        <Button icon="plus" onClick={() => setAdds(true)}>
          {text.addAnAgent}
        </Button>
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys. */}
      <section class="scroll" tabIndex={0} aria-label={text.agents}>
        <div class="reading wide">
          {known.length === 0 ? (
            <Empty title={text.noAgents}>{text.noAgentsMore}</Empty>
          ) : (
            <ul class="list">
              {known.map((agent) => (
                <AgentEntry key={agent.name} agent={agent} />
              ))}
            </ul>
          )}
        </div>
      </section>
      {adds && <AddAgent close={() => setAdds(false)} />}
    </>
  );
}

const healthGlyphs = { up: "done", down: "failed", refused: "failed", unknown: "queued" } as const;

function AgentEntry({ agent }: { agent: ListedAgent }) {
  const text = words();
  const { name, title = name, health, reason, card, changes, source } = agent;
  const state = health as keyof typeof healthGlyphs;
  const forget = async () => {
    try {
      await remove(`/agents/${encodeURIComponent(name)}`);
      await refreshAgents();
      toast(text.removed(title));
    } catch (error) {
      complain(error);
    }
  };
  return (
    <li class="srv" data-agent={name}>
      <div class="row">
        <AgentGlyph name={name} />
        <h2 class="nm">{safeText(title)}</h2>
        <span class={health === "up" ? "st s-ok small" : health === "unknown" ? "st small" : "st s-fail small"}>
          <Glyph
            shape={healthGlyphs[state] ?? "queued"}
            label={false}
            tone={health === "up" ? "s-ok" : health === "unknown" ? "s-none" : "s-fail"}
          />
          {text.health[state] ?? health}
        </span>
        <span class="grow" />
        <a class="btn ghost only-d" href={address([], { flow: name })}>
          {text.giveTask}
        </a>
        {source === "registered" && (
          <Button look="ghost" onClick={() => void forget()}>
            {text.remove}
          </Button>
        )}
      </div>
      <div class="ex2">
        {reason !== undefined && <p class="s-fail words">{safeText(reason)}</p>}
        {card?.description && <p class="words">{safeText(card.description)}</p>}
        <Facts agent={agent} />
        {changes.length > 0 && (
          <details>
            <summary class="t3 small">{text.cardChanges}</summary>
            <ul class="small">
              {changes.map(({ at, what }) => (
                <li key={at} class="words">
                  {timeText(at)}: {safeText(what.join("; "))}
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
    </li>
  );
}

function Facts({ agent: { url, model, sandbox, breaker, checkedAt, card } }: { agent: ListedAgent }) {
  const text = words();
  const facts = [
    url,
    model?.name && `${text.model}: ${modelText(model)}`,
    sandbox && `${text.sandbox}: ${sandbox}`,
    card?.version && `${text.version} ${card.version}`,
    breaker !== "closed" && `${text.breaker} (${breaker})`,
    checkedAt && `${text.checked} ${text.ago(ageText(checkedAt))}`,
  ];
  return <p class="t3 small words">{safeText(facts.filter(Boolean).join(" · "))}</p>;
}

function AddAgent({ close }: { close: () => void }) {
  const text = words();
  const [url, setUrl] = useState("");
  const [token, setToken] = useState("");
  const add = async () => {
    const { name } = await post<{ name: string }>("/agents", { url, ...(token !== "" && { token }) });
    await refreshAgents();
    close();
    toast(text.added(name));
  };
  return (
    <FormDialog title={text.addAnAgent} label={text.add} act={add} onClose={close}>
      <label class="label" for="agent-url">
        {text.agentAddress}
      </label>
      <div class="field">
        <input
          id="agent-url"
          type="url"
          required
          value={url}
          placeholder="https://"
          onInput={(event) => setUrl(event.currentTarget.value)}
        />
      </div>
      <label class="label" for="agent-token">
        {text.agentToken}
      </label>
      <div class="field">
        <input
          id="agent-token"
          type="password"
          autocomplete="off"
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
      </div>
    </FormDialog>
  );
}
