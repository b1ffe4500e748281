import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ValueObject } from '../../src/core/value.ts';
import { buildGraph, type GraphInput, renderMermaid } from '../../src/render/graph.ts';
import { closeChromium, openChromium } from '../chromium.ts';

type Resource = GraphInput['resources'][number];

function resource(
  address: string,
  references: readonly string[] = [],
  more: ValueObject = {},
): Resource {
  return { address, references, document: { name: `Name of ${address}`, ...more } };
}

function graph(resources: readonly Resource[], more: Partial<GraphInput> = {}) {
  return buildGraph({
    resources,
    organizations: { 'org-1': 'harbor' },
    isChosen: () => true,
    eachRow: false,
    ...more,
  });
}

const POLICY = resource('retry_policy.gentle');
const DESK = resource('agent.desk', ['retry_policy.gentle'], { organization_id: 'org-1' });
const row = (slug: string, to = 'retry_policy.gentle') =>
  resource(`agent.clinic[${JSON.stringify(slug)}]`, [to], { organization_id: 'org-1' });

describe('the graph of a stack', () => {
  test('is the same in whatever order the resources come', () => {
    const resources = [POLICY, DESK, row('b'), row('a', 'agent.desk')];
    expect(graph(resources.toReversed())).toEqual(graph(resources));
  });

  test('draws rows that refer to the same as one, unless each is asked for', () => {
    const resources = [POLICY, DESK, row('a'), row('b'), row('c', 'agent.desk')];
    const { nodes, edges } = graph(resources);
    expect(nodes.map(({ address, rows }) => [address, rows])).toEqual([
      ['agent.clinic', 2],
      ['agent.clinic["c"]', 1],
      ['agent.desk', 1],
      ['retry_policy.gentle', 1],
    ]);
    expect(edges).toEqual([
      { from: 0, to: 3 },
      { from: 1, to: 2 },
      { from: 2, to: 3 },
    ]);
    expect(graph(resources, { eachRow: true }).nodes).toHaveLength(5);
  });

  test('of a part has what that part refers to, and no more', () => {
    const resources = [POLICY, DESK, row('a'), resource('sms_template.x')];
    const { nodes } = graph(resources, { isChosen: (address) => address === 'agent.desk' });
    expect(nodes.map(({ address }) => address)).toEqual(['agent.desk', 'retry_policy.gentle']);
  });
});

/** Names that would end a label, begin another statement, or run something where they are drawn. */
const HOSTILE = [
  'a"] --> evil["b',
  'a" -> "b; evil [label="x"]; "',
  '%%{init: {"securityLevel": "loose"}}%%',
  '<img src=x onerror=globalThis.pwned=1>',
  '</pre><script>globalThis.pwned=1</script>',
  'click n0 "javascript:globalThis.pwned=1"',
  '`**bold**` #quot; &quot; #34; &amp;',
  'back\\slash \\N \\G \\" end',
  'end',
  'lifestyle:a#b; classDef x:y#z;',
  'line\nbreak\r\n%% comment\u2028\u202egnirts',
  '\u001b[31mred',
  '日本語 é 😀',
];

const hostile = graph([
  ...HOSTILE.map((name, at) =>
    resource(`agent.a${String(at).padStart(2, '0')}`, ['retry_policy.gentle'], {
      name,
      organization_id: name,
    }),
  ),
  POLICY,
]);
const labels = hostile.nodes.map(({ address }) => address);

/** What a reader is to see of a name: control characters as escapes. */
const SHOWN: Readonly<Record<string, string>> = {
  'line\nbreak\r\n%% comment\u2028\u202egnirts':
    'line\\nbreak\\r\\n%% comment\\u{2028}\\u{202e}gnirts',
  '\u001b[31mred': '\\x1b[31mred',
};
const shownNames = HOSTILE.map((name) => SHOWN[name] ?? name);

describe('Mermaid', () => {
  let page: Page;

  beforeAll(async () => {
    page = await (await openChromium()).newPage();
    await page.setContent('<body></body>');
    const script = createRequire(import.meta.url).resolve('mermaid/dist/mermaid.min.js');
    await page.addScriptTag({ path: script });
  });
  afterAll(closeChromium);

  const draw = (text: string) =>
    page.evaluate<{
      readonly type: string;
      readonly texts: readonly string[];
      readonly edges: number;
    }>(`(async () => {
      mermaid.initialize({ startOnLoad: false });
      const { diagramType } = await mermaid.parse(${JSON.stringify(text)});
      const { svg } = await mermaid.render('drawn', ${JSON.stringify(text)});
      const place = document.createElement('div');
      place.innerHTML = svg;
      document.body.replaceChildren(place);
      return {
        type: diagramType,
        texts: [...place.querySelectorAll('.nodeLabel, .cluster-label')].map((one) => one.innerText ?? one.textContent),
        edges: place.querySelectorAll('path.flowchart-link').length,
      };
    })()`);

  test('reads what was written, and nothing that a name says', async () => {
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    onTestFinished(() => void page.removeAllListeners('request'));
    const { type, texts, edges } = await draw(renderMermaid(hostile));
    expect(type).toMatch(/^flowchart/);
    expect(edges).toBe(HOSTILE.length);
    const seen = texts.join('\n').replaceAll('\u00a0', ' ');
    for (const address of labels) expect(seen).toContain(address);
    for (const name of shownNames) expect(seen).toContain(name);
    expect(await page.evaluate('globalThis.pwned')).toBeUndefined();
    expect(asked).toEqual([]);
  });
});
