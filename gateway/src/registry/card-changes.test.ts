import { expect, test } from "bun:test";
import { AgentCard } from "@a2a-js/sdk";
import { cardChanges } from "./card-changes.ts";

const skill = { id: "help", name: "Help", description: "Helps.", tags: ["a"], examples: [] };
const about = {
  name: "Helper",
  description: "Helps.",
  version: "1.0.0",
  supportedInterfaces: [{ url: "http://a.example", protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  skills: [skill],
};
const card = (over: Partial<typeof about> = {}) => AgentCard.fromJSON({ ...about, ...over });
const at = (url: string, protocolBinding = "JSONRPC", protocolVersion = "1.0") => ({
  url,
  protocolBinding,
  protocolVersion,
});

test.each([
  [{}, []],
  [{ name: "Other" }, ['name was "Helper", is "Other"']],
  [{ version: "1.0.1" }, ['version was "1.0.0", is "1.0.1"']],
  [{ description: "" }, ['description was "Helps.", is ""']],
  [
    { supportedInterfaces: [at("http://b.example")] },
    ['interfaces was "JSONRPC 1.0 http://a.example", is "JSONRPC 1.0 http://b.example"'],
  ],
  [
    { supportedInterfaces: [at("http://a.example", "GRPC", "0.3")] },
    ['interfaces was "JSONRPC 1.0 http://a.example", is "GRPC 0.3 http://a.example"'],
  ],
  [{ skills: [skill, { ...skill, id: "more" }] }, ['skill "more" is new']],
  [{ skills: [{ ...skill, tags: ["b"] }] }, ['skill "help" has a new description']],
  [{ skills: [] }, ['skill "help" is gone']],
  [{ skills: [{ ...skill, id: "more" }] }, ['skill "more" is new', 'skill "help" is gone']],
] as const)("a newer card with %j is told as %j", (over, changes) => {
  expect(cardChanges(card(), card(over as Partial<typeof about>))).toEqual([...changes]);
});

test("every interface and every skill is compared, in whatever order", () => {
  const skills = ["a", "b", "c"].map((id) => ({ ...skill, id }));
  const two = [at("http://a.example"), at("http://a.example", "GRPC")];
  const before = card({ skills, supportedInterfaces: two });
  expect(cardChanges(before, card({ skills: skills.toReversed(), supportedInterfaces: two }))).toEqual([]);
  const after = card({ skills: [{ ...skill, id: "b", tags: ["x"] }], supportedInterfaces: two.slice(0, 1) });
  expect(cardChanges(before, after)).toEqual([
    'interfaces was "JSONRPC 1.0 http://a.example, GRPC 1.0 http://a.example", is "JSONRPC 1.0 http://a.example"',
    'skill "b" has a new description',
    'skill "a" is gone',
    'skill "c" is gone',
  ]);
});

test("a text of a hundred characters is told whole, a longer one is cut", () => {
  const told = (length: number) => cardChanges(card(), card({ name: "x".repeat(length) }))[0];
  expect(told(100)).toEndWith(`is "${"x".repeat(100)}"`);
  expect(told(101)).toEndWith(`is "${"x".repeat(100)}…"`);
});
