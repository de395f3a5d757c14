/**
 * Random addresses in random spellings. The oracle is written differently from the code: 128-bit numbers and ranges as text, so that
 * one mistake is not made twice.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { reasonNotPublic } from "./address";

const runs = { numRuns: 3000 };

const specialRanges =
  "0.0.0.0-0.255.255.255 10.0.0.0-10.255.255.255 100.64.0.0-100.127.255.255 127.0.0.0-127.255.255.255 169.254.0.0-169.254.255.255 172.16.0.0-172.31.255.255 192.0.0.0-192.0.0.255 192.0.2.0-192.0.2.255 192.88.99.0-192.88.99.255 192.168.0.0-192.168.255.255 198.18.0.0-198.19.255.255 198.51.100.0-198.51.100.255 203.0.113.0-203.0.113.255 224.0.0.0-255.255.255.255"
    .split(" ")
    .map((range) => range.split("-").map(toNumber) as [number, number]);

function toNumber(dotted: string): number {
  return dotted.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

const isSpecial = (address: number) =>
  specialRanges.some(([first, last]) => address >= first && address <= last);

const special = fc
  .constantFrom(...specialRanges)
  .chain(([first, last]) =>
    fc.oneof(fc.constant(first), fc.constant(last), fc.integer({ min: first, max: last }))
  );
const anyAddress = fc.oneof(special, fc.integer({ min: 0, max: 2 ** 32 - 1 }));

/** One number of an address: decimal, octal or hexadecimal, with or without leading zeros. */
const spellings = [
  (part: number) => String(part),
  (part: number) => `0${part.toString(8)}`,
  (part: number) => `0x${part.toString(16)}`,
  (part: number) => `0X${part.toString(16).toUpperCase()}`,
  (part: number) => `0x000${part.toString(16)}`
];

const fullWidth = (text: string) =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(0xff_10 + Number(digit))).replaceAll(".", "。");

interface Spelling {
  readonly parts: number;
  readonly forms: readonly number[];
  readonly ending: string;
  readonly wide: boolean;
}

const spelling: fc.Arbitrary<Spelling> = fc.record({
  parts: fc.integer({ min: 1, max: 4 }),
  forms: fc.array(fc.integer({ min: 0, max: spellings.length - 1 }), { minLength: 4, maxLength: 4 }),
  ending: fc.constantFrom("", "."),
  wide: fc.boolean()
});

function spell(address: number, how: Spelling): string {
  const numbers: number[] = [];
  let rest = address;
  // The last number takes all bytes that have no number of their own.
  for (let index = 0; index < how.parts - 1; index++) {
    const unit = 256 ** (3 - index);
    numbers.push(Math.floor(rest / unit));
    rest %= unit;
  }
  const text = [...numbers, rest]
    .map((part, index) => (spellings[how.forms[index] ?? 0] ?? String)(part))
    .join(".");
  return (how.wide ? fullWidth(text) : text) + how.ending;
}

describe("issue 5.6: the addresses that fetch refuses", () => {
  it("are the same in every spelling of an IPv4 address", () => {
    fc.assert(
      fc.property(anyAddress, spelling, (address, how) => {
        const { hostname } = new URL(`https://${spell(address, how)}/`);
        expect(reasonNotPublic(hostname) !== undefined, `${spell(address, how)} as ${hostname}`).toBe(
          isSpecial(address)
        );
      }),
      runs
    );
  });

  it("include every IPv6 address that carries an IPv4 address, and everything that is not global unicast", () => {
    const group = (value: bigint, index: number) =>
      ((value >> BigInt(16 * (7 - index))) & 0xff_ffn).toString(16);
    const text = (value: bigint) => Array.from({ length: 8 }, (_, index) => group(value, index)).join(":");
    const low = fc.bigInt({ min: 0n, max: (1n << 96n) - 1n });
    const carriers = anyAddress.chain((address) =>
      fc.constantFrom(
        BigInt(address),
        (0xff_ffn << 32n) | BigInt(address),
        (0xff_ff_00_00n << 32n) | BigInt(address),
        (0x64_ff_9bn << 96n) | BigInt(address),
        (0x2002n << 112n) | (BigInt(address) << 80n),
        (0x2001_0000n << 96n) | BigInt(address)
      )
    );
    const local = fc
      .tuple(fc.constantFrom(0xfc_00n, 0xfd_12n, 0xfe_80n, 0xfe_c0n, 0xff_02n, 0x0100n, 0x5f_00n), low)
      .map(([first, rest]) => (first << 112n) | rest);
    const documentation = low.map((rest) => (0x2001_0db8n << 96n) | rest);
    fc.assert(
      fc.property(fc.oneof(carriers, local, documentation), (value) => {
        const { hostname } = new URL(`https://[${text(value)}]/`);
        expect(reasonNotPublic(hostname), hostname).toBeDefined();
      }),
      runs
    );
    expect(reasonNotPublic(new URL("https://[::ffff:127.0.0.1]/").hostname)).toBeDefined();
  });

  it("do not include public addresses", () => {
    const first = fc.constantFrom("2606:4700", "2a00:1450", "2400:cb00", "2620:fe");
    fc.assert(
      fc.property(first, fc.integer({ min: 1, max: 0xff_ff }), (head, last) => {
        expect(reasonNotPublic(new URL(`https://[${head}::${last.toString(16)}]/`).hostname)).toBeUndefined();
      }),
      { numRuns: 200 }
    );
    for (const host of ["1.1.1.1", "example.com", "example.com.", "xn--bcher-kva.example", "a.b.c.dev"])
      expect(reasonNotPublic(host)).toBeUndefined();
  });

  it.each([
    "localhost",
    "LOCALHOST",
    "localhost.",
    "a.localhost",
    "printer",
    "printer.local",
    "metadata.google.internal",
    "router.home.arpa",
    "1.0.0.127.in-addr.arpa",
    "",
    ".",
    "1.2.3",
    "0177.0.0.1",
    "0x7f000001",
    "2130706433",
    "999.1.1.1",
    "a.1",
    "[]",
    "[1::2::3]",
    "[::1%25lo]",
    "[fe80::1",
    `${"a".repeat(260)}.example`
  ])("include %j, even when nobody has put it into the usual form", (host) => {
    expect(reasonNotPublic(host)).toBeDefined();
  });
});
