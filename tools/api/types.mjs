// Writes the TypeScript types of the API document, with the hashes by which a
// Go test holds them to it: `make api-types` runs it.
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';

const [from, to] = process.argv.slice(2);
const hash = (text) => createHash('sha256').update(text).digest('hex');
const document = await readFile(from, 'utf8');
const { version } = JSON.parse(await readFile(new URL('node_modules/openapi-typescript/package.json', import.meta.url), 'utf8'));
const types = astToString(await openapiTS(document, { alphabetize: true, emptyObjectsUnknown: true }));
await writeFile(to, `// Made of the API document by openapi-typescript ${version}: make api-types. DO NOT EDIT.
// openapi.yaml: ${hash(document)}
// what follows: ${hash(types)}
${types}`);
