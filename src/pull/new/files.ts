import type { Address } from '../../core/address.ts';
import type { Remark } from '../../export/resource.ts';
import { ownTextFile, wayBack } from '../../export/survey.ts';
import { writeOne } from '../../export/write-one.ts';
import { kinds } from '../../kinds/index.ts';
import type { Foreign } from './names.ts';

/** What stands where the file says `$secret`. */
type NeededSecret = {
  readonly address: Address;
  readonly path: string;
  /** `env:AGENT_FRONT_DESK__CRM_KEY`. */
  readonly source: string;
};

export type Proposed = {
  readonly address: Address;
  readonly id: string;
  /** Its own file; undefined where the configuration cannot say it, and then a remark says why. */
  readonly file: string | undefined;
  /** Its file and those of its texts, by path in the stack folder. */
  readonly texts: ReadonlyMap<string, string>;
  readonly secrets: readonly NeededSecret[];
  readonly remarks: readonly Remark[];
};

type ProposeOptions = {
  /** The address of a live resource; undefined where nobody manages it. */
  readonly addressOf: (kind: string, id: string) => Address | undefined;
  /** Names of organizations → ids. */
  readonly organizations: Readonly<Record<string, string>>;
  /** Id of the stack's own organization. */
  readonly organization: string | undefined;
  /** Whether another live resource is known by the same name, so that only its id tells it. */
  readonly isAmbiguous: (one: Foreign) => boolean;
  /** What the first line of a file tells editors, by its path from the stack folder; undefined for none. */
  readonly schema: string | undefined;
  /** Whether something stands at a path already. */
  readonly isTaken: (file: string) => boolean;
  /** Whether the stack reads something else from an environment variable. */
  readonly isVariableTaken: (name: string) => boolean;
};

/** A file for each resource, and files for its long texts. No path is given twice. */
export function proposeFiles(
  named: ReadonlyMap<Foreign, Address>,
  options: ProposeOptions,
): readonly Proposed[] {
  const free = freePaths(options.isTaken);
  return [...named].map(([one, address]) => proposeOne(one, address, options, free));
}

function proposeOne(
  one: Foreign,
  address: Address,
  options: ProposeOptions,
  free: (path: string) => string,
): Proposed {
  const { kind, live } = one;
  const { organizations, organization, schema } = options;
  const name = address.split('.').slice(1).join('-');
  const file = free(`${kind.section}/${name}.yaml`);
  const paths = new Map<string, string>();
  const context = { ...options, kind, address, isTwin: options.isAmbiguous(one) };
  const { one: written, remarks } = writeOne(live, context, {
    kinds,
    organizations,
    organization,
    ...(schema === undefined ? {} : { schema: `${wayBack(file)}${schema}` }),
    fileFor: (text) => {
      const wanted = ownTextFile(kind, name, text);
      if (wanted === undefined) return undefined;
      // A resource may be put into words again, without what there are none for.
      const path = paths.get(text.path) ?? free(wanted);
      paths.set(text.path, path);
      return path;
    },
  });
  if (written === undefined) {
    return { address, id: live.id, file: undefined, texts: new Map(), secrets: [], remarks };
  }
  return {
    address,
    id: live.id,
    file,
    texts: new Map([[file, written.written.text], ...written.written.files]),
    secrets: written.secrets.map((secret) => ({
      address,
      path: secret.path,
      source: `env:${secret.name}`,
    })),
    remarks,
  };
}

/** Paths that nothing stands at yet, each given once, also where upper and lower case are the same. */
function freePaths(isTaken: (file: string) => boolean): (path: string) => string {
  const given = new Set<string>();
  return (wanted) => {
    const [, path = wanted, ending = ''] = /^(.*?)(\.[a-z]+)$/s.exec(wanted) ?? [];
    let free = wanted;
    for (let count = 2; isTaken(free) || given.has(free.toLowerCase()); count += 1) {
      free = `${path}_${count}${ending}`;
    }
    given.add(free.toLowerCase());
    return free;
  };
}
