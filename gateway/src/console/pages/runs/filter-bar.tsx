import { Icon } from "../../parts/icons/icon.tsx";
import { Menu, type MenuItem } from "../../parts/menu.tsx";
import { place, setQuery } from "../../state/router.ts";
import { agents, flows } from "../../state/store.ts";
import { words } from "../../words/words.ts";
import { type Filters, filterNames } from "./runs-query.ts";

const noneSet: Readonly<Record<string, undefined>> = Object.fromEntries(filterNames.map((name) => [name, undefined]));

type Choice = readonly [string, string];

/** The filters, each in the address. */
export function FilterBar({ filters }: { filters: Filters }) {
  const text = words();
  const states = Object.entries(text.states).map(([state, name]): Choice => [state, name]);
  const flowNames = flows.value.map(({ name, title }): Choice => [name, title]);
  const agentNames = agents.value.map(({ name, title }): Choice => [name, title ?? name]);
  const days: readonly Choice[] = [
    ["1", text.run.lastDay],
    ["7", text.run.lastWeek],
    ["30", text.run.lastMonth],
  ];
  const costs = ["0.1", "1", "10"].map((usd): Choice => [usd, text.run.overUsd(`$${usd}`)]);
  return (
    <div class="filters">
      <Filter name="days" label={text.run.anyTime} choices={days} filters={filters} />
      <Filter name="status" label={text.run.anyState} choices={states} filters={filters} />
      <Filter name="name" label={text.run.anyName} choices={[...flowNames, ...agentNames]} filters={filters} />
      <Filter name="agent" label={text.run.anyAgent} choices={agentNames} filters={filters} />
      <Filter name="minUsd" label={text.run.anyCost} choices={costs} filters={filters} />
    </div>
  );
}

function Filter({
  name,
  label,
  choices,
  filters,
}: {
  readonly name: (typeof filterNames)[number];
  readonly label: string;
  readonly choices: readonly Choice[];
  readonly filters: Filters;
}) {
  const text = words();
  const value = filters[name];
  const chosen =
    choices.find(([key]) => key === value)?.[1] ??
    value
      ?.split(",")
      .map((one) => stateName(one))
      .join(", ");
  const items: MenuItem[] = choices.map(([key, title]) => ({
    label: title,
    checked: key === value,
    choose: () => setQuery({ [name]: key }, true),
  }));
  const clear: MenuItem = {
    label: text.run.clearFilter(label),
    checked: value === undefined,
    choose: () => setQuery({ [name]: undefined }, true),
  };
  return (
    <Menu
      label={chosen === undefined ? label : `${label}: ${chosen}`}
      look={value === undefined ? "pick line" : "pick line on"}
      items={value === undefined ? items : [...items, clear]}
      button={
        <>
          {chosen ?? label}
          <Icon name="down" small />
        </>
      }
    />
  );
}

function stateName(state: string): string {
  return (words().states as Readonly<Record<string, string>>)[state] ?? state;
}

/** Takes every filter away. */
export function clearFilters(): void {
  setQuery(noneSet, true);
}

/** The filters that the address holds now, as one text: the same text is the same list. */
export function filtersKey(): string {
  return filterNames.map((name) => place.value.query.get(name) ?? "").join("\n");
}
