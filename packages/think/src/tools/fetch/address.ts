/**
 * Which hosts are on the public internet, as far as a name or an address can tell. Called with the host of a parsed URL, where the
 * platform has already turned decimal, octal, hexadecimal and full-width spellings into the usual form. Pure.
 *
 * Invariants
 * 1. What is not known to be public is refused: an address outside the global ranges, and any spelling that is not the usual one.
 * 2. An IPv6 address that carries an IPv4 address inside (mapped, translated, 6to4, Teredo) is refused, whatever it carries.
 */

/** Why a host may not be asked, as the end of the sentence "it is …"; undefined for a public one. */
export function reasonNotPublic(hostname: string): string | undefined {
  if (hostname.startsWith("[")) {
    const groups = parseIpv6(hostname.slice(1, -1));
    return groups !== undefined && isGlobalIpv6(groups) ? undefined : "an address that is not public";
  }
  const name = hostname.toLowerCase().replace(/\.+$/, "");
  const lastLabel = name.slice(name.lastIndexOf(".") + 1);
  if (/^(?:\d+|0x[\da-f]*)$/.test(lastLabel)) {
    const bytes = parseIpv4(name);
    return bytes !== undefined && isGlobalIpv4(bytes) ? undefined : "an address that is not public";
  }
  if (name === "" || name.length > 253) return "not a host name";
  // A name without a dot is looked up in a local network.
  if (!name.includes(".") || privateDomains.has(lastLabel) || name.endsWith(".home.arpa")) {
    return "a name of a private network";
  }
  return undefined;
}

/** Top-level names that never leave a machine or a local network. */
const privateDomains = new Set([
  "localhost",
  "localdomain",
  "local",
  "internal",
  "intranet",
  "private",
  "corp",
  "home",
  "lan",
  "arpa",
  "onion",
  "test",
  "invalid"
]);

/** Four decimal numbers without leading zeros; nothing else is an address here. */
function parseIpv4(text: string): number[] | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^(?:0|[1-9]\d{0,2})$/.test(part))) return undefined;
  const bytes = parts.map(Number);
  return bytes.every((byte) => byte <= 255) ? bytes : undefined;
}

/** First address and prefix length of every range that is not global (IANA special-purpose registry, multicast, reserved). */
const specialIpv4: readonly (readonly [readonly number[], number])[] = [
  [[0, 0, 0, 0], 8],
  [[10, 0, 0, 0], 8],
  [[100, 64, 0, 0], 10],
  [[127, 0, 0, 0], 8],
  [[169, 254, 0, 0], 16],
  [[172, 16, 0, 0], 12],
  [[192, 0, 0, 0], 24],
  [[192, 0, 2, 0], 24],
  [[192, 88, 99, 0], 24],
  [[192, 168, 0, 0], 16],
  [[198, 18, 0, 0], 15],
  [[198, 51, 100, 0], 24],
  [[203, 0, 113, 0], 24],
  [[224, 0, 0, 0], 3]
];

function isGlobalIpv4(bytes: readonly number[]): boolean {
  return !specialIpv4.some(([start, length]) => samePrefix(bytes, start, 8, length));
}

/** Ranges inside the global unicast block that are not global: IETF protocols with Teredo, documentation, 6to4. */
const specialIpv6: readonly (readonly [readonly number[], number])[] = [
  [[0x2001, 0, 0, 0, 0, 0, 0, 0], 23],
  [[0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32],
  [[0x2002, 0, 0, 0, 0, 0, 0, 0], 16],
  [[0x3fff, 0, 0, 0, 0, 0, 0, 0], 20]
];

function isGlobalIpv6(groups: readonly number[]): boolean {
  if (!samePrefix(groups, [0x2000, 0, 0, 0, 0, 0, 0, 0], 16, 3)) return false;
  return !specialIpv6.some(([start, length]) => samePrefix(groups, start, 16, length));
}

/** Whether two addresses agree in their first `length` bits; `width` is the number of bits per item. */
function samePrefix(
  address: readonly number[],
  start: readonly number[],
  width: number,
  length: number
): boolean {
  return start.every((item, index) => {
    const bits = Math.min(Math.max(length - index * width, 0), width);
    const drop = width - bits;
    return (address[index] ?? 0) >> drop === item >> drop;
  });
}

/** The eight groups of an address as a URL shows it: hexadecimal, at most one `::`. */
function parseIpv6(text: string): number[] | undefined {
  const halves = text.toLowerCase().split("::");
  if (halves.length > 2) return undefined;
  const [head = [], tail] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - (tail?.length ?? 0);
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined;
  const groups = tail === undefined ? head : [...head, ...Array<string>(missing).fill("0"), ...tail];
  if (!groups.every((group) => /^[\da-f]{1,4}$/.test(group))) return undefined;
  return groups.map((group) => Number.parseInt(group, 16));
}
