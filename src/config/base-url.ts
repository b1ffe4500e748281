import { baseUrlFault } from '../core/base-url.ts';
import { STACK_FILE } from './discover.ts';
import type { Report } from './problems.ts';
import { memberOf, type Written } from './written.ts';

/**
 * Reports a base address that no command would use: one with credentials in it, or that would send them
 * in clear. That it is an address at all is in the schema of the settings.
 */
export function reportBaseUrl(text: string | undefined, root: Written, report: Report): void {
  if (text === undefined || !/^https?:\/\//.test(text) || !URL.canParse(text)) return;
  const fault = baseUrlFault(text);
  if (fault === undefined) return;
  hideCredentials(root, report);
  const place = memberOf(memberOf(root, 'platform')?.value, 'base_url')?.value.place;
  report.add({
    rule: 'platform/base-url',
    message: `${STACK_FILE}: platform.${fault.message}`,
    hint: fault.hint,
    path: 'platform.base_url',
    place,
  });
}

/** Keeps addresses with credentials out of frames, in the platform and in the defaults of variables. */
function hideCredentials(root: Written, report: Report): void {
  const variables = memberOf(root, 'variables')?.value;
  const defaults =
    variables?.type === 'map'
      ? [...variables.members.values()].map(({ value }) => memberOf(value, 'default')?.value)
      : [];
  const address = memberOf(memberOf(root, 'platform')?.value, 'base_url')?.value;
  for (const node of [address, ...defaults]) {
    if (node?.type === 'scalar' && /^https?:.*[@?#]/.test(node.text)) report.mask(node.place);
  }
}
