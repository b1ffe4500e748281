import { MASK, redactText, scalarSensitivity } from '../core/redact.ts';
import { FORMS } from './forms.ts';
import type { Field } from './resolved.ts';
import { readSource } from './secrets.ts';
import type { Member, Written } from './written.ts';

const LONGEST = 200;
const REPLACE = '$replace';

/** What `{ $replace: … }` lays down; any other node is what it is. */
export function contentOf(node: Written): Written {
  const content = onlyMember(node, REPLACE)?.value;
  return content === undefined ? node : contentOf(content);
}

/**
 * Whether a node is a form as it should be, so that it stands for one value. In any other map members may be
 * fields, with secrets of their own, whatever stands beside them.
 */
export function isForm(node: Written): boolean {
  if (node.type !== 'map') return false;
  const keys = [...node.members.keys()];
  if (keys.includes('$template')) return keys.every((key) => key === '$template' || key === 'with');
  const names: readonly string[] = [...FORMS, '$remove'];
  const [member] = node.members.values();
  const isAlone = member !== undefined && keys.length === 1;
  return isAlone && names.includes(member.key) && member.value.type === 'scalar';
}

/** What is written, on one line; what something is where it is a whole map or list; masked where it is secret. */
export function textOf(node: Written, field: Field): string {
  if (isMasked(node, field)) return MASK;
  const content = contentOf(node);
  const merged = content === node ? '' : ', not merged';
  if (content.type === 'list') return `a list of ${content.items.length}${merged}`;
  if (content.type === 'map' && !isForm(content)) {
    return `a map of ${[...content.members.keys()].join(', ')}${merged}`;
  }
  const { source, start, end } = node.place;
  const text = node.type === 'scalar' ? node.text : source.text.slice(start, end);
  const line = redactText(text).replace(/\s+/g, ' ').trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

/** Where a secret may stand, only what plainly names the source of one is shown. */
function isMasked(node: Written, { sensitive, holdsSecrets, secrecy }: Field): boolean {
  const content = contentOf(node);
  if (isPlainSecret(content)) return false;
  if (node.type === 'scalar' && scalarSensitivity(secrecy, node.text) === 'whole') return true;
  return sensitive || (holdsSecrets && (isForm(node) || content !== node));
}

function isPlainSecret(node: Written): boolean {
  const source = onlyMember(node, '$secret')?.value;
  return source?.type === 'scalar' && !('words' in readSource(source.text));
}

/** The member of a map that has no other. */
function onlyMember(node: Written, key: string): Member | undefined {
  return node.type === 'map' && node.members.size === 1 ? node.members.get(key) : undefined;
}
