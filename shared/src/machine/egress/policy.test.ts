import { expect, test } from "bun:test";
import { admitUrl, type EgressPolicy } from "./policy.ts";
import { isPublicAddress } from "./public-address.ts";

const open: EgressPolicy = { allow: [], deny: [], only: [] };

test.each([
  "http://127.0.0.1/",
  "http://2130706433/",
  "http://0x7f.1/",
  "http://0x7f000001/",
  "http://0177.0.0.1/",
  "http://127.1/",
  "http://①②⑦.0.0.1/",
  "http://0/",
  "http://0.0.0.0/",
  "http://10.0.0.1/",
  "http://172.16.0.1/",
  "http://172.31.255.255/",
  "http://192.168.1.1/",
  "http://100.64.0.1/",
  "http://100.100.100.200/",
  "http://169.254.169.254/latest/meta-data/",
  "http://168.63.129.16/",
  "http://198.18.0.1/",
  "http://224.0.0.1/",
  "http://255.255.255.255/",
  "http://[::1]/",
  "http://[::]/",
  "http://[::ffff:7f00:1]/",
  "http://[::ffff:127.0.0.1]/",
  "http://[::127.0.0.1]/",
  "http://[64:ff9b::7f00:1]/",
  "http://[64:ff9b::8.8.8.8]/",
  "http://[64:ff9b:1::1]/",
  "http://[fc00::1]/",
  "http://[fd00:ec2::254]/",
  "http://[fe80::1]/",
  "http://[fec0::1]/",
  "http://[ff02::1]/",
  "http://[2002:7f00:1::]/",
  "http://[2001:0:7f00:1::]/",
  "http://[2001:db8::1]/",
  "http://localhost/",
  "http://LOCALHOST./",
  "http://api.localhost/",
  "http://user@example.com/",
  "http://user:secret@example.com/",
  "file:///etc/passwd",
  "ftp://example.com/",
  "data:text/html,x",
  "gopher://example.com/",
])("%s is refused", (url) => {
  expect(() => admitUrl(url, open)).toThrow(expect.objectContaining({ code: "forbidden" }));
});

test.each(["https://example.com/", "http://8.8.8.8/", "http://[2606:4700::1111]:8080/"])("%s is allowed", (url) => {
  expect(admitUrl(url, open).href).toBe(url);
});

test("an invalid URL is the caller's error", () => {
  expect(() => admitUrl("example com", open)).toThrow(expect.objectContaining({ code: "invalid_input" }));
});

test("text that is not an address is not public", () => {
  expect(["localhost", "", "1.2.3", "fe80::1%eth0"].filter(isPublicAddress)).toEqual([]);
});

test("hosts are denied by name and below a name, with and without a port", () => {
  const refuses = (deny: string, url: string) => {
    try {
      admitUrl(url, { ...open, deny: [deny] });
      return false;
    } catch {
      return true;
    }
  };
  expect(refuses("evil.example", "http://evil.example/")).toBe(true);
  expect(refuses("evil.example", "http://EVIL.example.:81/")).toBe(true);
  expect(refuses("evil.example", "http://not-evil.example/")).toBe(false);
  expect(refuses("*.evil.example", "http://a.b.evil.example/")).toBe(true);
  expect(refuses("*.evil.example", "http://evil.example/")).toBe(true);
  expect(refuses("*.evil.example", "http://notevil.example/")).toBe(false);
  expect(refuses("evil.example:443", "https://evil.example/")).toBe(true);
  expect(refuses("evil.example:443", "http://evil.example/")).toBe(false);
});

test("a list of allowed hosts excludes all others", () => {
  const policy = { ...open, only: ["*.example.com"] };
  expect(admitUrl("https://docs.example.com/", policy).host).toBe("docs.example.com");
  expect(() => admitUrl("https://example.org/", policy)).toThrow("not on the list");
});

test("a private address is reached only by an allowed name and port", () => {
  const policy = { ...open, allow: ["127.0.0.1:8080", "[::1]:9000"] };
  expect(admitUrl("http://127.0.0.1:8080/", policy).port).toBe("8080");
  expect(admitUrl("http://[::1]:9000/", policy).port).toBe("9000");
  expect(() => admitUrl("http://127.0.0.1:8081/", policy)).toThrow("not public");
  expect(() => admitUrl("http://10.0.0.1:8080/", policy)).toThrow("not public");
});
