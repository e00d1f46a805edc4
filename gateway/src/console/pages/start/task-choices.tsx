import { Icon } from "../../parts/icons/icon.tsx";
import { Menu } from "../../parts/menu.tsx";
import { OptionFields } from "../../parts/option-fields.tsx";
import { Popover } from "../../parts/popover.tsx";
import { agents, flows } from "../../state/store.ts";
import { words } from "../../words/words.ts";
import { choose, chosenFlow, chosenName, newTask, teamNames } from "./new-task.ts";

/** What is chosen for a new task: flow or agent, its agents, the spending limit, options. */
export function Choices({ optionsOpen, openOptions }: { optionsOpen: boolean; openOptions: () => void }) {
  const text = words();
  const flow = chosenFlow();
  const properties = Object.keys(flow?.options?.properties ?? {});
  return (
    <>
      <WhatMenu />
      {flow !== undefined && <Team />}
      <Limit />
      {properties.length > 0 && (
        <button type="button" class="pick" aria-expanded={optionsOpen} onClick={openOptions}>
          <span class="t3">{text.options}</span>
        </button>
      )}
    </>
  );
}

function WhatMenu() {
  const text = words();
  const flow = chosenFlow();
  const agent = agents.value.find(({ name }) => name === chosenName());
  const items = [
    ...flows.value.map(({ name, title, description }) => ({ name, title, note: description })),
    ...agents.value.map(({ name, title = name, card }) => ({ name, title, note: card?.description ?? text.oneAgent })),
  ];
  return (
    <Menu
      label={text.flowOrAgent}
      button={
        <>
          <Icon name={flow === undefined ? "agent" : "flow"} />
          <b>{flow?.title ?? agent?.title ?? agent?.name ?? chosenName()}</b>
          <Icon name="down" small />
        </>
      }
      items={items.map(({ name, title, note }) => ({
        label: title,
        note,
        checked: name === chosenName(),
        choose: () => choose(name),
      }))}
    />
  );
}

function Team() {
  const text = words();
  const names = teamNames();
  const { team } = newTask;
  return (
    <Popover
      label={text.agentsInOrder}
      button={
        <>
          <Icon name="agent" />
          <b>{names.length === 0 ? text.allAgents : text.agentCount(names.length)}</b>
          <Icon name="down" small />
        </>
      }
    >
      <label class="label" for="agents">
        {text.agentsInOrder}
      </label>
      <div class="field">
        <input
          id="agents"
          value={team.value}
          placeholder={text.agentsPlaceholder}
          onInput={(event) => {
            team.value = event.currentTarget.value;
          }}
        />
      </div>
      <div class="row wrap chips">
        {agents.value.map(({ name, title = name }) => (
          <button
            key={name}
            type="button"
            class="pick line"
            aria-label={text.addAgent(title)}
            onClick={() => {
              team.value = [...teamNames(), name].join(", ");
            }}
          >
            + {title}
          </button>
        ))}
      </div>
    </Popover>
  );
}

function Limit() {
  const text = words();
  const { limit } = newTask;
  const isSet = limit.value.trim() !== "";
  return (
    <Popover
      label={text.spendingLimit}
      button={
        <>
          <span class="t3">{text.limit}</span>
          <b class="num">{isSet ? `$${limit.value}` : text.none}</b>
          <Icon name="down" small />
        </>
      }
    >
      <label class="label" for="limit">
        {text.spendingLimit}
      </label>
      <div class="field">
        <input
          id="limit"
          type="number"
          min={0}
          step="any"
          placeholder={text.noLimit}
          value={limit.value}
          onInput={(event) => {
            limit.value = event.currentTarget.value;
          }}
        />
      </div>
      <p class="t3 small note">{text.limitNote}</p>
    </Popover>
  );
}

/** The options of the chosen flow as a form. */
export function Options() {
  const flow = chosenFlow();
  const schemas = flow?.options?.properties ?? {};
  if (Object.keys(schemas).length === 0) return null;
  return (
    <section class="task-options" aria-label={words().options}>
      <OptionFields
        schemas={schemas}
        entered={newTask.options.value}
        onChange={(entered) => {
          newTask.options.value = entered;
        }}
      />
    </section>
  );
}
