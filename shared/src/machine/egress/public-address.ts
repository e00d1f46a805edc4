import { BlockList, isIP } from "node:net";

const blocked4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  // Azure's platform address, which answers like a metadata service but is not in a reserved range.
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];

/**
 * Parts of 2000::/3 that are not places on the internet or that contain an IPv4 address: Teredo and
 * related ranges, documentation, 6to4.
 */
const blocked6 = ["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"];

const nonPublic4 = blockList(blocked4, "ipv4");
const nonPublic6 = blockList(blocked6, "ipv6");
const global6 = blockList(["2000::/3"], "ipv6");

/**
 * Whether an address (as text, without brackets) is on the public internet. Everything else is
 * refused: private, loopback, link-local, metadata, multicast and reserved addresses, and IPv6
 * forms that contain an IPv4 address (mapped, NAT64, 6to4, Teredo), because what they reach depends
 * on the network.
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !nonPublic4.check(address, "ipv4");
  return family === 6 && global6.check(address, "ipv6") && !nonPublic6.check(address, "ipv6");
}

function blockList(ranges: readonly string[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = "", bits] = range.split("/");
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}
