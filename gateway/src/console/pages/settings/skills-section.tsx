import { useState } from "preact/hooks";
import { get, post, remove } from "../../api/client.ts";
import { Button } from "../../parts/button.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Markdown } from "../../parts/markdown.tsx";
import { complain, toast } from "../../parts/toast.tsx";
import { safeText, sizeText } from "../../words/format.ts";
import { words } from "../../words/words.ts";
import { OperatorOnly } from "./operator-only.tsx";
import { useLoaded } from "./use-loaded.ts";

type Skill = {
  readonly name: string;
  readonly source: "shipped" | "home" | "project";
  readonly path: string;
  readonly state: "shipped" | "approved" | "new" | "changed" | "invalid";
  readonly problem?: string;
  readonly like?: string;
  readonly description?: string;
  readonly hash?: string;
};
type ShownSkill = Skill & {
  readonly license?: string;
  readonly allowedTools?: string;
  readonly instructions?: string;
  readonly files: readonly { readonly path: string; readonly size: number; readonly text?: string }[];
};

const base = "/settings/skills";
const pathOf = (name: string) => `${base}/${encodeURIComponent(name)}`;
const waits = ({ state }: Skill) => state === "new" || state === "changed";

/** The skills: read, approve by what was read, remove. Those that wait for approval come first. */
export function SkillsSection() {
  const text = words().skillSettings;
  const loaded = useLoaded<{ readonly skills: readonly Skill[] }>(base);
  const skills = loaded.value?.skills ?? [];
  const ordered = skills.toSorted((one, other) => Number(waits(other)) - Number(waits(one)));
  return (
    <>
      <h2>{text.title}</h2>
      <p>{text.note}</p>
      <OperatorOnly of={loaded}>
        {skills.length === 0 && <Empty title={text.none}>{text.noneMore}</Empty>}
        {skills.length > 0 && (
          <ul class="list">
            {ordered.map((skill) => (
              <SkillEntry key={skill.name} skill={skill} changed={loaded.reload} />
            ))}
          </ul>
        )}
        {skills.length > 0 && <p class="t3 small">{text.noneMore}</p>}
      </OperatorOnly>
    </>
  );
}

function SkillEntry({ skill, changed }: { skill: Skill; changed: () => Promise<void> }) {
  const text = words().skillSettings;
  const { name, source, path, state, description = "", problem, like } = skill;
  const [shown, setShown] = useState<ShownSkill | undefined>(undefined);
  const [asks, setAsks] = useState(false);
  const [busy, setBusy] = useState(false);
  const act = async (work: () => Promise<void>) => {
    setBusy(true);
    await work().catch(complain);
    setBusy(false);
  };
  const read = () => act(async () => setShown(await get<ShownSkill>(pathOf(name))));
  const approve = (hash: string) =>
    act(async () => {
      await post(`${pathOf(name)}/approve`, { hash });
      toast(text.approved(name));
      setShown(undefined);
      await changed();
    });
  const drop = () =>
    act(async () => {
      setAsks(false);
      await remove(pathOf(name));
      toast(text.removed(name));
      await changed();
    });
  const isOpen = shown !== undefined;
  return (
    <li class="srv" data-skill={name}>
      <div class="row wrap">
        <h3 class="nm">{safeText(name)}</h3>
        <span class={waits(skill) ? "s-wait small" : state === "invalid" ? "s-fail small" : "t3 small"}>
          {text.states[state]}
        </span>
        <span class="grow" />
        <Button
          disabled={busy || state === "invalid"}
          aria-expanded={isOpen}
          aria-label={`${isOpen ? text.close : text.read}: ${name}`}
          onClick={() => (isOpen ? setShown(undefined) : void read())}
        >
          {isOpen ? text.close : text.read}
        </Button>
        {source === "home" && (
          <Button look="ghost" disabled={busy} onClick={() => setAsks(true)} aria-label={`${words().remove}: ${name}`}>
            {words().remove}
          </Button>
        )}
      </div>
      <p class="small words">{safeText(problem ?? description)}</p>
      {like !== undefined && <p class="s-wait small">{text.like(safeText(like))}</p>}
      {source !== "shipped" && (
        <p class="t3 small words">
          <code>{safeText(path)}</code>
        </p>
      )}
      {shown && <Content skill={shown} busy={busy} approve={approve} />}
      {asks && (
        <Dialog title={text.removeAsk(safeText(name))} onClose={() => setAsks(false)}>
          <p>{text.removeMore}</p>
          <div class="acts">
            <Button look="primary" onClick={() => void drop()}>
              {words().remove}
            </Button>
            <Button onClick={() => setAsks(false)}>{words().cancel}</Button>
          </div>
        </Dialog>
      )}
    </li>
  );
}

/** All that approving approves. */
function Content(props: { skill: ShownSkill; busy: boolean; approve: (hash: string) => Promise<void> }) {
  const text = words().skillSettings;
  const { skill, busy, approve } = props;
  const { license, allowedTools, instructions = "", files, hash } = skill;
  return (
    <div class="skill-content">
      {license !== undefined && <p class="t3 small">{text.license(safeText(license))}</p>}
      {allowedTools !== undefined && <p class="t2 small">{text.allowedTools(safeText(allowedTools))}</p>}
      <Markdown text={instructions} />
      <h4 class="small">{text.files(files.length)}</h4>
      {files.map((file) => (
        <details key={file.path}>
          <summary class="row">
            <code class="grow cut">{safeText(file.path)}</code>
            <span class="t3 small num">{sizeText(file.size)}</span>
          </summary>
          {file.text === undefined ? (
            <p class="t3 small">{text.notText}</p>
          ) : (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keys.
            <pre class="code" tabIndex={0}>
              {safeText(file.text)}
            </pre>
          )}
        </details>
      ))}
      {hash !== undefined && waits(skill) && (
        <div class="row wrap">
          <Button look="primary" disabled={busy} onClick={() => void approve(hash)}>
            {text.approve}
          </Button>
          <span class="t3 small grow words">{text.approveNote}</span>
        </div>
      )}
    </div>
  );
}
