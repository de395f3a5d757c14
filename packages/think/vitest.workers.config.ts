import { workersProject } from "./test/workers-project.ts";

export default workersProject({ name: "workers", root: import.meta.dirname });
