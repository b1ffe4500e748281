import { expect, test } from 'vitest';
import { openPacker, unpack } from '../../src/config/packed.ts';
import type { Written, WrittenMap } from '../../src/config/written.ts';
import { parseYaml } from '../../src/config/yaml.ts';

const TEXT = `# comment
agents:
  front:
    name: &name "Front desk"
    other: *name
    speed: 1.10
    zero: -0
    empty:
    none: null
    yes: true
    list: [a, [b, { c: d }], *name]
    prompt: |
      ${'A long line of a prompt that nobody else has. '.repeat(4)}
      ends here
  "quoted key": { nested: {}, more: [] }
`;

function parsed(text: string) {
  const source = { file: 'agents.yaml', text };
  const { root, problems } = parseYaml(source);
  expect(problems).toEqual([]);
  if (root?.type !== 'map') throw new Error('the text is a map');
  return { source, root };
}

/** A tree read as those read it who know nothing of packing. */
function read(node: Written): unknown {
  if (node.type === 'scalar') return node;
  const { type, place, origin } = node;
  if (node.type === 'list') return { type, place, origin, items: node.items.map(read) };
  const members = [...node.members].map(([key, member]) => [
    key,
    { ...member, value: read(member.value) },
  ]);
  return { type, place, origin, members };
}

test('a packed tree reads as the tree itself, looked through or unpacked', () => {
  const { source, root } = parsed(TEXT);
  const packer = openPacker(source);
  const packed = packer.pack(root);
  packer.close();
  expect(read(packed)).toEqual(read(root));
  expect(unpack(packed)).toEqual(root);
  expect(Object.is(zeroIn(unpack(packed)), -0)).toBe(true);
});

function zeroIn(root: WrittenMap): unknown {
  const front = memberAt(memberAt(root, 'agents'), 'front');
  const zero = memberAt(front, 'zero');
  return zero?.type === 'scalar' ? zero.value : undefined;
}

function memberAt(node: Written | undefined, key: string): Written | undefined {
  return node?.type === 'map' ? node.members.get(key)?.value : undefined;
}

test('trees that are packed one after the other are each their own', () => {
  const { source, root } = parsed('a: { x: 1, y: same }\nb: { x: same }\n');
  const packer = openPacker(source);
  const maps = [...root.members.values()].flatMap(({ value }) =>
    value.type === 'map' ? [value] : [],
  );
  const packed = maps.map((map) => packer.pack(map));
  packer.close();
  expect(packed.map(unpack)).toEqual(maps);
});

test('members are added and replaced in a copy, as in any other map', () => {
  const { source, root } = parsed('a: 1\nb: 2\n');
  const packer = openPacker(source);
  const packed = packer.pack(root);
  packer.close();
  const copy: WrittenMap = { ...packed, members: new Map() };
  expect(copy).toEqual({ type: 'map', place: root.place, members: new Map() });
});
