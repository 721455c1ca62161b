import { createRoot } from "react-dom/client";
import { App } from "./App";
import "./style/base.css";
import "./style/story.css";
import "./style/panels.css";
import "./style/map.css";

createRoot(document.getElementById("page")!).render(<App />);
