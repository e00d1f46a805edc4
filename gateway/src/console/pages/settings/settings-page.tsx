import { useEffect, useRef, useState } from "preact/hooks";
import { NotificationChoice } from "../../attention/notification-choice.tsx";
import { useTitle } from "../../attention/tab.ts";
import { singleKeys } from "../../parts/keys.ts";
import { address } from "../../state/router.ts";
import { agents, agentsUp } from "../../state/store.ts";
import { chooseTheme, type Theme, theme } from "../../state/theme.ts";
import { safeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { LanguageChoice } from "./language-choice.tsx";
import { MemorySection } from "./memory-section.tsx";
import { ModelSection } from "./model-section.tsx";
import { ProfilesSection } from "./profiles-section.tsx";
import { SandboxSection } from "./sandbox-section.tsx";
import { ServersSection } from "./servers-section.tsx";
import { SkillsSection } from "./skills-section.tsx";
import { TokensSection } from "./tokens-section.tsx";

const sections = [
  "model",
  "sandbox",
  "agents",
  "servers",
  "skills",
  "tokens",
  "browser",
  "memory",
  "appearance",
] as const;

/**
 * What is set: the model, the sandbox, the agents, MCP servers, skills, tokens, the memory, how the
 * console looks.
 */
export function SettingsPage({ section }: { section: string }) {
  const text = words();
  useTitle(text.settings);
  const shown = sections.find((name) => name === section) ?? "model";
  const list = useRef<HTMLElement>(null);
  // On a phone they stand in a row that is wider than the screen.
  useEffect(() => list.current?.querySelector("[aria-current]")?.scrollIntoView({ inline: "center" }), [shown]);
  return (
    <>
      <header class="head">
        <h1>{text.settings}</h1>
      </header>
      <div class="set">
        <nav class="sub" ref={list} aria-label={text.settings}>
          {sections.map((name) => (
            <a
              key={name}
              href={address(["settings", name])}
              {...(name === shown && { "aria-current": "page" as const })}
            >
              {text.settingsSections[name]}
            </a>
          ))}
          <a class="only-p" href={address(["build"])}>
            {text.flows}
          </a>
          <a class="only-p" href={address(["starts"])}>
            {text.starts.title}
          </a>
          <a class="only-p" href={address(["api"])}>
            {text.api}
          </a>
        </nav>
        <div class="scroll">
          <div class="pane">
            {shown === "model" && <ModelSection />}
            {shown === "sandbox" && <SandboxSection />}
            {shown === "agents" && <Agents />}
            {shown === "servers" && <ServersSection />}
            {shown === "skills" && <SkillsSection />}
            {shown === "tokens" && <TokensSection />}
            {shown === "browser" && <ProfilesSection />}
            {shown === "memory" && <MemorySection />}
            {shown === "appearance" && <Appearance />}
          </div>
        </div>
      </div>
    </>
  );
}

function Agents() {
  const text = words();
  return (
    <>
      <h2>{text.agents}</h2>
      <p>
        {text.agentsUpOf(agentsUp.value.length, agents.value.length)} {text.system.agentsNote}
      </p>
      <ul class="list">
        {agents.value.map(({ name, title = name, model, sandbox, breaker }) => (
          <li key={name} class="srv row wrap">
            <h3 class="nm">{safeText(title)}</h3>
            <span class="t3 small grow words">
              {safeText([model?.name, sandbox && `${text.sandbox}: ${sandbox}`].filter(Boolean).join(" · "))}
            </span>
            <span class={breaker === "closed" ? "t3 small" : "s-wait small"}>
              {text.system.breakers[breaker as "closed"] ?? breaker}
            </span>
          </li>
        ))}
      </ul>
      <a class="btn" href={address(["agents"])}>
        {text.openAgents}
      </a>
    </>
  );
}

function Appearance() {
  const text = words();
  const [keys, setKeys] = useState(singleKeys.on);
  const themes: readonly Theme[] = ["system", "light", "dark"];
  return (
    <>
      <h2>{text.settingsSections.appearance}</h2>
      <fieldset class="choices">
        <legend class="label">{text.theme}</legend>
        {themes.map((name) => (
          <label class="check" key={name}>
            <input type="radio" name="theme" checked={theme.value === name} onChange={() => chooseTheme(name)} />
            {text.themes[name]}
          </label>
        ))}
      </fieldset>
      <LanguageChoice />
      <NotificationChoice />
      <label class="check">
        <input
          type="checkbox"
          checked={keys}
          onChange={(event) => {
            singleKeys.on = event.currentTarget.checked;
            setKeys(event.currentTarget.checked);
          }}
        />
        {text.singleKeys}
      </label>
    </>
  );
}
