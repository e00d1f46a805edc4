import type { ComponentChildren } from "preact";
import { Button, IconButton } from "../../parts/button.tsx";
import { TextField } from "../../parts/text-field.tsx";
import { agents, flows } from "../../state/store.ts";
import { words } from "../../words/words.ts";
import { type CompositionDraft, type Member, memberFields, newMember } from "./composition.ts";

/** The agents of the flow, in order, with what each does. */
export function MemberList({
  draft,
  change,
}: {
  draft: CompositionDraft;
  change: (members: readonly Member[]) => void;
}) {
  const text = words().system;
  const { members, pattern } = draft;
  const put = (index: number, member: Member) => change(members.with(index, member));
  const move = (index: number, to: number) => {
    const moved = members[index];
    if (moved !== undefined) change(members.toSpliced(index, 1).toSpliced(to, 0, moved));
  };
  const known = [...agents.value.map(({ name, title = name }) => ({ name, title })), ...flows.value];
  const isFull = pattern === "loop" && members.length > 0;
  return (
    <section aria-label={text.members[pattern]}>
      <h2>{text.members[pattern]}</h2>
      {members.map((member, index) => (
        <MemberForm
          key={member.id}
          number={index + 1}
          draft={draft}
          member={member}
          names={known}
          change={(next) => put(index, next)}
        >
          <IconButton
            icon="up"
            label={`${text.moveUp}: ${index + 1}`}
            disabled={index === 0}
            onClick={() => move(index, index - 1)}
          />
          <IconButton
            icon="down"
            label={`${text.moveDown}: ${index + 1}`}
            disabled={index === members.length - 1}
            onClick={() => move(index, index + 1)}
          />
          <IconButton
            icon="trash"
            label={`${text.removeMember}: ${index + 1}`}
            onClick={() => change(members.toSpliced(index, 1))}
          />
        </MemberForm>
      ))}
      <div class="acts">
        <Button icon="plus" disabled={isFull} onClick={() => change([...members, newMember(known[0]?.name ?? "")])}>
          {text.addMember}
        </Button>
      </div>
    </section>
  );
}

type MemberFormProps = {
  readonly number: number;
  readonly draft: CompositionDraft;
  readonly member: Member;
  readonly names: readonly { readonly name: string; readonly title: string }[];
  readonly change: (member: Member) => void;
  readonly children: ComponentChildren;
};

function MemberForm({ number, draft, member, names, change, children }: MemberFormProps) {
  const text = words().system;
  const labels = { name: text.branchName, when: text.when, position: text.position, instruction: text.instruction };
  const id = `member-${member.id}`;
  const isKnown = names.some(({ name }) => name === member.agent);
  return (
    <div class="member" data-member={number}>
      <div class="row">
        <span class="t3 num">{number}</span>
        <div class="field grow">
          <select
            aria-label={`${text.agent} ${number}`}
            value={member.agent}
            onChange={(event) => change({ ...member, agent: event.currentTarget.value })}
          >
            {!isKnown && <option value={member.agent}>{member.agent}</option>}
            {names.map(({ name, title }) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </div>
        {children}
      </div>
      {memberFields[draft.pattern].map((field) => (
        <TextField
          key={field}
          id={`${id}-${field}`}
          label={`${labels[field]} ${number}`}
          value={member[field]}
          {...(field === "instruction" && { rows: 2 })}
          onValue={(value) => change({ ...member, [field]: value })}
        />
      ))}
    </div>
  );
}
