import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAllowList } from "./allow-list";

const allows = (entry: string, url: string) => createAllowList([entry]).check(url).ok;

describe("issue 5.6: the allow-list of fetch", () => {
  it.each([
    ["https://example.com", "https://example.com/any?q=1", true],
    ["https://example.com", "https://EXAMPLE.com./x", true],
    ["https://example.com", "https://example.com:443/", true],
    ["https://example.com", "http://example.com/", false],
    ["https://example.com", "https://example.com:8443/", false],
    ["https://example.com:8443", "https://example.com:8443/", true],
    ["https://example.com", "https://www.example.com/", false],
    ["https://example.com", "https://example.com.evil.example/", false],
    ["https://example.com", "https://evilexample.com/", false],
    ["https://example.com", "https://evil.example\\@example.com/", false],
    ["https://example.com", "https:\\\\evil.example/", false],
    ["https://example.com", "//example.com/", false],
    ["https://*.example.com", "https://a.b.example.com/", true],
    ["https://*.example.com", "https://example.com/", false],
    ["https://*.example.com", "https://aexample.com/", false],
    ["https://*", "https://anything.example/x", true],
    ["https://*", "http://anything.example/x", false],
    ["https://*", "https://127.1/", false],
    ["https://*/", "https://[::1]/", false],
    ["https://*:8443/x", "https://a.example:8443/x/y", true],
    ["https://*.a.example:8443", "https://b.a.example:8443/", true],
    ["https://*.a.example:8443", "https://b.a.example/", false],
    ["https://1.1.1.1", "https://1.1.1.1/", true],
    ["https://1.1.1.1", "https://16843009/", true],
    ["https://example.com/docs", "https://example.com/docs", true],
    ["https://example.com/docs", "https://example.com/docs/a", true],
    ["https://example.com/docs", "https://example.com/docsx", false],
    ["https://example.com/docs/", "https://example.com/docs/../admin", false],
    ["https://example.com/docs/", "https://example.com/docs/%2e%2e/admin", false],
    ["https://example.com/docs/", "https://example.com/docs/..%2fadmin", false],
    ["https://example.com/docs/", "https://example.com/docs/..%5Cadmin", false],
    ["https://bücher.example", "https://xn--bcher-kva.example/", true],
    ["https://xn--bcher-kva.example", "https://BÜCHER.example/", true],
    // Cyrillic letters that look Latin.
    ["https://apple.example", "https://аррӏе.example/", false]
  ])("%s and %s: %s", (entry, url, expected) => {
    expect(allows(entry, url)).toBe(expected);
  });

  it.each([
    ["a user name", "https://user@example.com/", "user name or password"],
    ["a password", "https://:secret@example.com/", "user name or password"],
    ["another scheme", "ftp://example.com/", "Only https"],
    ["data", "data:text/plain,hello", "Only https"],
    ["no URL", "example.com", "not an absolute URL"],
    ["nothing", "", "not an absolute URL"],
    ["a NUL in the host", "https://exam\0ple.com/", "not an absolute URL"],
    ["endless text", `https://example.com/${"a".repeat(5000)}`, "longer than"],
    ["loopback", "https://0x7f.1/", "not public"],
    ["a private name", "https://db.internal/", "private network"],
    ["another site", "https://other.example/?token=secret", "not on the list"]
  ])("explains %s in one sentence, without the query", (_, url, text) => {
    const result = createAllowList(["https://example.com"]).check(url);
    const error = result.ok ? "" : result.error;
    expect(error).toContain(text);
    expect(error).not.toContain("secret");
    expect(error.length).toBeLessThan(500);
  });

  it.each([
    ["no entry", []],
    ["no URL", ["example.com"]],
    ["another scheme", ["ftp://example.com"]],
    ["a star inside", ["https://a.*.example.com"]],
    ["two stars", ["https://*.*.example.com"]],
    ["a query", ["https://example.com/?a=1"]],
    ["a user", ["https://me@example.com/"]],
    ["a private host", ["https://localhost:8080/"]],
    ["a private address", ["http://169.254.169.254/"]]
  ])("refuses %s when it is made", (_, entries) => {
    expect(() => createAllowList(entries)).toThrow(/allow-list of the fetch tool/);
  });

  it("never throws and never accepts a private or foreign host, whatever the text", () => {
    const list = createAllowList(["https://example.com/docs/"]);
    const pieces = fc.constantFrom(
      ..."https:// http:// // / \\ @ : . .. %2e %2f %00 # ? [::1] 127.0.0.1 0x7f.1 example.com docs/ localhost evil.example ü 。 \t \n".split(
        " "
      )
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string()), { maxLength: 8 }), (parts) => {
        const result = list.check(parts.join(""), new URL("https://example.com/docs/here"));
        if (!result.ok) return;
        expect(result.url.protocol).toBe("https:");
        expect(result.url.host).toBe("example.com");
        expect(result.url.pathname.startsWith("/docs/")).toBe(true);
        expect(result.url.username + result.url.password + result.url.hash).toBe("");
      }),
      { numRuns: 5000 }
    );
  });
});
