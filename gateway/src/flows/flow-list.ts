import type { FlowDefinition } from "manyhands/internal/core/flow";

/** The flows of a gateway, which may change while it works. */
export interface FlowList extends Iterable<FlowDefinition> {
  get(name: string): FlowDefinition | undefined;
  /** Adds a flow, or replaces the one of its name. */
  put(flow: FlowDefinition): void;
  remove(name: string): void;
  /** Their names, as they are when it is read. */
  readonly names: readonly string[];
  /** Calls `listener` with each flow that is here, and with each that is put here later. */
  each(listener: (flow: FlowDefinition) => void): void;
}

/** A list that begins with these flows. */
export function flowList(flows: readonly FlowDefinition[]): FlowList {
  const all = new Map(flows.map((flow) => [flow.name, flow]));
  const names = [...all.keys()];
  const listeners: ((flow: FlowDefinition) => void)[] = [];
  return {
    names,
    get: (name) => all.get(name),
    put(flow) {
      if (!all.has(flow.name)) names.push(flow.name);
      all.set(flow.name, flow);
      for (const listener of listeners) listener(flow);
    },
    remove(name) {
      if (all.delete(name)) names.splice(names.indexOf(name), 1);
    },
    each(listener) {
      listeners.push(listener);
      for (const flow of all.values()) listener(flow);
    },
    [Symbol.iterator]: () => all.values(),
  };
}
