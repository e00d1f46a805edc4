import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type { LivePlace, PageInput } from "../../../api/live.ts";
import { Button } from "../../../parts/button.tsx";
import { safeText } from "../../../words/format.ts";
import { words } from "../../../words/words.ts";
import { LiveScreen } from "./live-screen.tsx";
import { type LiveStore, openLiveStore } from "./live-store.ts";

/**
 * The page that an agent has open, or its desktop, live; a person can take it, use it, and hand it
 * back.
 */
export function LivePage({ runId, task, screen, agent }: LivePlace & { agent: string }) {
  const text = words().livePage;
  const title = useId();
  const store = useMemo(() => openLiveStore({ runId, task, screen }), [runId, task, screen]);
  useEffect(() => () => store.close(), [store]);
  const handBack = useRef<HTMLDivElement>(null);
  const phase = store.phase.value;
  if (phase === "refused" || phase === "ended")
    return (
      <p class="t3 small" role="status" data-live={phase}>
        {text.phasesOf[screen][phase]}
      </p>
    );
  const held = phase === "held";
  const leave = () => handBack.current?.querySelector("button")?.focus();
  return (
    <section class={held ? "win mine" : "win"} aria-labelledby={title} data-live={phase}>
      <div class="url">
        <h2 id={title} class="small">
          {text.titleOf[screen](safeText(agent))}
        </h2>
        <span role="status" class="small t2">
          {text.phasesOf[screen][phase]}
        </span>
        <Address url={store.state.value?.url ?? ""} />
        <div ref={handBack}>
          <TurnButton store={store} />
        </div>
      </div>
      <Dialog store={store} />
      <LiveScreen frame={store.frame.value} screen={screen} held={held} send={store.send} leave={leave} />
      {held && <Keys send={store.send} screen={screen} />}
      <p class="t3 small hint">{held ? text.heldHintOf[screen] : text.hintOf[screen]}</p>
    </section>
  );
}

/** Where the page is; a desktop has no address. */
function Address({ url }: { url: string }) {
  if (url === "") return <span class="grow" />;
  return (
    <code class="cut" title={safeText(url)}>
      {safeText(url)}
    </code>
  );
}

function TurnButton({ store }: { store: LiveStore }) {
  const text = words().livePage;
  const [busy, setBusy] = useState(false);
  const phase = store.phase.value;
  const during = (work: Promise<void>) => {
    setBusy(true);
    void work.finally(() => setBusy(false));
  };
  if (phase === "held")
    return (
      <Button look="primary" icon="hand" disabled={busy} onClick={() => during(store.handBack())}>
        {text.handBack}
      </Button>
    );
  if (phase !== "watching" && phase !== "handed-back") return null;
  return (
    <Button icon="pointer" disabled={busy} onClick={() => during(store.take())}>
      {busy ? text.taking : text.take}
    </Button>
  );
}

/** The dialog that blocks the page, which no picture shows. */
function Dialog({ store }: { store: LiveStore }) {
  const text = words().livePage;
  const state = store.state.value;
  if (state?.dialog === undefined) return null;
  const answer = (accept: boolean) => store.send({ type: "dialog", accept });
  return (
    <section class="asked" aria-label={text.dialog}>
      <p>{safeText(state.dialog.message)}</p>
      {state.held && (
        <>
          <Button onClick={() => answer(true)}>{text.accept}</Button>
          <Button onClick={() => answer(false)}>{text.dismiss}</Button>
        </>
      )}
    </section>
  );
}

/** For whoever has no keyboard, or one that composes: a text for the field that has the focus. */
function Keys({ send, screen }: { send: (input: PageInput) => void; screen: LivePlace["screen"] }) {
  const text = words().livePage;
  const [typed, setTyped] = useState("");
  const key = (name: string) => send({ type: "key", key: name });
  return (
    <form
      class="keys"
      autocomplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        if (typed !== "") send({ type: "text", text: typed });
        setTyped("");
      }}
    >
      <div class="field">
        <input
          aria-label={text.typeHere}
          placeholder={text.typeHere}
          value={typed}
          maxLength={5_000}
          autocomplete="off"
          spellcheck={false}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </div>
      <Button type="submit">{text.typeIt}</Button>
      <Button onClick={() => key("Enter")}>Enter</Button>
      <Button onClick={() => key("Tab")}>Tab</Button>
      <Button onClick={() => key("PageUp")} aria-label={text.pageUp} icon="up" />
      <Button onClick={() => key("PageDown")} aria-label={text.pageDown} icon="down" />
      {screen === "browser" && <Button onClick={() => send({ type: "back" })}>{text.back}</Button>}
    </form>
  );
}
