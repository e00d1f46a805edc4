import { expect, test } from "bun:test";
import { admitUrl, covers, type EgressPolicy } from "./policy.ts";
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

/** The first and the last address of each range that is not public, and its neighbours that are. */
test.each<readonly [string, string, ...string[]]>([
  ["0.0.0.0", "0.255.255.255", "1.0.0.0"],
  ["10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"],
  ["100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"],
  ["127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"],
  ["168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"],
  ["169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"],
  ["172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"],
  ["192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"],
  ["192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"],
  ["192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"],
  ["192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"],
  ["198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"],
  ["198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"],
  ["203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"],
  ["224.0.0.0", "255.255.255.255", "223.255.255.255"],
  ["2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"],
  ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff::", "2001:db9::"],
  ["2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff::", "2003::"],
  ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe:ffff::", "3fff:1000::"],
  ["::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"],
  ["4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:ffff::"],
])("from %s to %s no address is public, beside them they are", (first, last, ...beside) => {
  expect([first, last].filter(isPublicAddress)).toEqual([]);
  expect(beside.filter((address) => !isPublicAddress(address))).toEqual([]);
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

test.each([
  ["0.0.0.0", "0.255.255.255", undefined, "1.0.0.0"],
  ["10.0.0.0", "10.255.255.255", "9.255.255.255", "11.0.0.0"],
  ["100.64.0.0", "100.127.255.255", "100.63.255.255", "100.128.0.0"],
  ["127.0.0.0", "127.255.255.255", "126.255.255.255", "128.0.0.0"],
  ["168.63.129.16", "168.63.129.16", "168.63.129.15", "168.63.129.17"],
  ["169.254.0.0", "169.254.255.255", "169.253.255.255", "169.255.0.0"],
  ["172.16.0.0", "172.31.255.255", "172.15.255.255", "172.32.0.0"],
  ["192.0.0.0", "192.0.0.255", "191.255.255.255", "192.0.1.0"],
  ["192.0.2.0", "192.0.2.255", "192.0.1.255", "192.0.3.0"],
  ["192.88.99.0", "192.88.99.255", "192.88.98.255", "192.88.100.0"],
  ["192.168.0.0", "192.168.255.255", "192.167.255.255", "192.169.0.0"],
  ["198.18.0.0", "198.19.255.255", "198.17.255.255", "198.20.0.0"],
  ["198.51.100.0", "198.51.100.255", "198.51.99.255", "198.51.101.0"],
  ["203.0.113.0", "203.0.113.255", "203.0.112.255", "203.0.114.0"],
  ["224.0.0.0", "239.255.255.255", "223.255.255.255", undefined],
  ["240.0.0.0", "255.255.255.255", undefined, undefined],
  ["2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2000:ffff::", "2001:200::"],
  ["2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db7:ffff::", "2001:db9::"],
  ["2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:ffff::", "2003::"],
  ["3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "3ffe:ffff::", "3fff:1000::"],
  ["4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "3fff:ffff::", undefined],
  ["::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", undefined, "2000::1"],
])("nothing from %s to %s is public; what is beside it is", (first, last, before, after) => {
  expect([first, last].map(isPublicAddress)).toEqual([false, false]);
  for (const beside of [before, after])
    if (beside !== undefined) expect([beside, isPublicAddress(beside)]).toEqual([beside, true]);
});

test.each([
  ["a.example", "http://a.example/", true],
  ["A.Example", "http://a.example/", true],
  ["a.example.", "http://a.example/", true],
  ["a.example", "http://a.example./", true],
  ["a.example", "http://b.a.example/", false],
  ["*.a.example", "http://b.a.example/", true],
  ["*.a.example", "http://a.example.evil.example/", false],
  ["*.a.example", "http://x.a.example.evil.example/", false],
  ["b.*.example", "http://b.a.example/", false],
  ["b.*.example", "http://*.example/", false],
  ["a.example:80", "http://a.example/", true],
  ["a.example:443", "https://a.example/", true],
  ["a.example:443", "http://a.example:443/", true],
  ["a.example:80", "https://a.example/", false],
  ["a.example:80", "http://a.example:8080/", false],
  ["a.example:8080", "https://a.example:8080/", true],
  ["*.a.example:8080", "http://b.a.example:8080/", true],
  ["*.a.example:8080", "http://b.a.example/", false],
  ["[::1]", "http://[::1]:9000/", true],
  ["[::1]:9000", "http://[::1]:9000/", true],
  ["[::1]:9000", "http://[::1]:9001/", false],
  ["", "http://a.example/", false],
])("the entry %j covers %s: %p", (entry, url, covered) => {
  expect(covers(entry, new URL(url))).toBe(covered);
});

test("a URL without a user but with a password is refused, and one that both lists name is denied", () => {
  expect(() => admitUrl("http://:secret@example.com/", open)).toThrow("has a user or password");
  const both = { ...open, deny: ["*.example.com"], only: ["example.com", "a.example.com"] };
  expect(() => admitUrl("https://a.example.com/", both)).toThrow("deny list");
  const several = { ...open, only: ["a.example", "b.example"] };
  expect(["https://a.example/", "https://b.example/"].map((url) => admitUrl(url, several).host)).toHaveLength(2);
  const denied = { ...open, deny: ["a.example", "b.example"] };
  for (const host of denied.deny) expect(() => admitUrl(`https://${host}/`, denied)).toThrow("deny list");
});

test("names of this machine are reached only if they are allowed", () => {
  const policy = { ...open, allow: ["localhost:8080"] };
  expect(admitUrl("http://localhost:8080/", policy).port).toBe("8080");
  expect(() => admitUrl("http://localhost:8081/", policy)).toThrow("not public");
  expect(() => admitUrl("http://mylocalhost/", open)).not.toThrow();
  expect(() => admitUrl("http://localhost.example/", open)).not.toThrow();
});
