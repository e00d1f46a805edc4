import { expect, test } from "bun:test";
import { agentAt, insideAddress, isSameServer } from "./server-address.ts";

test("addresses below a public address are mapped to the internal one, the longest match first, and no others", () => {
  const inside = insideAddress([
    { url: "http://127.0.0.1:4100", publicUrl: "https://agents.example/" },
    { url: "http://127.0.0.1:4101/", publicUrl: "https://agents.example/of/manus" },
    { url: "http://127.0.0.1:4102", publicUrl: undefined },
  ]);
  const turned = {
    "https://agents.example": "http://127.0.0.1:4100/",
    "https://agents.example/runs?name=a%20b": "http://127.0.0.1:4100/runs?name=a%20b",
    "https://agents.example/of/manus": "http://127.0.0.1:4101",
    "https://agents.example/of/manus/artifacts/1/a.txt": "http://127.0.0.1:4101/artifacts/1/a.txt",
    "https://agents.example/of/manuscripts": "http://127.0.0.1:4100/of/manuscripts",
  };
  for (const [outside, address] of Object.entries(turned)) expect(inside(outside)).toBe(address);
  const others = ["http://127.0.0.1:4102/x", "http://agents.example/", "https://agents.example:8443/", "no address"];
  for (const other of others) expect(inside(other)).toBe(other);
});

test.each([
  ["http://localhost:4100/a", "http://127.0.0.1:4100/b", true],
  ["http://[::1]:4100", "http://localhost:4100", true],
  ["http://a.example", "http://a.example:80/x?y", true],
  ["http://a.example", "https://a.example", false],
  ["http://a.example", "http://a.example:81", false],
  ["http://127.0.0.1:1", "http://127.0.0.2:1", false],
  ["http://a.example", "http://b.a.example", false],
  ["ftp://a.example", "ftp://a.example", false],
  ["nonsense", "nonsense", false],
])("%s is the server of %s: %p", (one, other, same) => {
  expect([isSameServer(one, other), isSameServer(other, one)]).toEqual([same, same]);
});

test.each([
  ["http://127.0.0.1:4103", "swe", "swe at http://127.0.0.1:4103"],
  ["https://ann:secret@a.example/of/swe/?key=secret#secret", "swe", "swe at https://a.example/of/swe"],
  ["https://a.example/x/.well-known/agent-card.json", undefined, "The agent at https://a.example/x"],
  ["https://a.example", "https://ann:secret@a.example", "The agent at https://a.example"],
  ["https://a.example", "swe\n\u001b[31m", "swe at https://a.example"],
  ["nonsense", undefined, "The agent"],
])("errors name the agent at %s that is called %j without secrets: %s", (address, called, named) => {
  expect(agentAt(address, called)).toBe(named);
});
